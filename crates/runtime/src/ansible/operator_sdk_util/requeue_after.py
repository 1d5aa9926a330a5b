#!/usr/bin/python
"""Asks for another run after a time such as 30s, as operator_sdk.util.requeue_after does for operators of operator-sdk."""

from ansible.module_utils.basic import AnsibleModule


def main():
    module = AnsibleModule(argument_spec={"time": {"required": True}}, supports_check_mode=True)
    # The operator reads it from the result.
    module.exit_json(changed=False, period=module.params["time"])


if __name__ == "__main__":
    main()
