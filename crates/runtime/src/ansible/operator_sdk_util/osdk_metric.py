#!/usr/bin/python
"""Accepts the arguments of operator_sdk.util.osdk_metric, and has no effect: the metrics of the operator are its own."""

from ansible.module_utils.basic import AnsibleModule


def main():
    options = {"name": {"required": True}, "description": {}, "buckets": {"type": "list", "elements": "float"}}
    kinds = {kind: {"type": "dict"} for kind in ("counter", "gauge", "histogram", "summary")}
    module = AnsibleModule(argument_spec={**options, **kinds}, supports_check_mode=True)
    module.warn("a run cannot add metrics to the operator: %s is not measured" % module.params["name"])
    module.exit_json(changed=False)


if __name__ == "__main__":
    main()
