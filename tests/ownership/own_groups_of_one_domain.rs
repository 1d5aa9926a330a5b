kind Widget widgets.acme.co.uk
kind Gadget gadgets.acme.co.uk
