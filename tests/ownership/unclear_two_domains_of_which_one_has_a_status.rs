kind Widget acme.io status="WidgetStatus"
kind Gadget partner.dev
