#!/usr/bin/python
"""Writes fields and conditions of an object's status, as operator_sdk.util.k8s_status does for operators of operator-sdk."""

from datetime import datetime, timezone

from ansible.module_utils.basic import AnsibleModule, env_fallback

try:
    from kubernetes import config, dynamic
    from kubernetes.client import ApiClient, Configuration
    from kubernetes.client.exceptions import ApiException

    MISSING = None
except ImportError as error:
    MISSING = str(error)

# Who writes these fields: the operator leaves them alone.
MANAGER = "operator_sdk.util.k8s_status"
# What the operator itself writes.
OWN = ("conditions", "lastRun", "observedGeneration")
ATTEMPTS = 5


def condition(new, old):
    """A condition with all that Kubernetes requires; the time changes with the status only."""
    whole = {"status": "Unknown", "reason": "Unknown", "message": "", **(old or {})}
    whole.update({key: value for key, value in new.items() if value is not None})
    is_same = old is not None and old.get("status") == whole["status"]
    if not new.get("lastTransitionTime") and not (is_same and old.get("lastTransitionTime")):
        whole["lastTransitionTime"] = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return whole


def merged(old, new):
    """The conditions, of which each type is there once."""
    by_type = {each.get("type"): each for each in old}
    for each in new:
        by_type[each["type"]] = condition(each, by_type.get(each["type"]))
    return list(by_type.values())


def patch_for(status, params):
    """A merge patch; empty: nothing changes."""
    patch = {key: value for key, value in (params["status"] or {}).items() if status.get(key) != value}
    if params["force"]:
        given = params["status"] or {}
        patch.update({key: None for key in status if key not in OWN and key not in given})
    if params["conditions"]:
        old = status.get("conditions") or []
        conditions = merged(old, params["conditions"])
        if conditions != old:
            patch["conditions"] = conditions
    return patch


def write(module, resource):
    params = module.params
    name, namespace = params["name"], params["namespace"]
    for attempt in range(ATTEMPTS):
        # The operator may list its objects; it need not be allowed to get one.
        found = resource.get(namespace=namespace, field_selector="metadata.name=" + name).to_dict().get("items") or []
        if not found:
            module.fail_json(msg="there is no {0} {1}".format(params["kind"], name))
        patch = patch_for(found[0].get("status") or {}, params)
        if not patch or module.check_mode:
            return bool(patch)
        # Conditions are a list, which a patch replaces as a whole.
        body = {"metadata": {"resourceVersion": found[0]["metadata"]["resourceVersion"]}, "status": patch}
        try:
            resource.status.patch(
                name=name,
                namespace=namespace,
                body=body,
                content_type="application/merge-patch+json",
                field_manager=MANAGER,
            )
            return True
        except ApiException as error:
            if error.status != 409 or attempt + 1 == ATTEMPTS:
                raise
    return False


def main():
    condition_options = {
        "type": {"required": True},
        "status": {"choices": ["True", "False", "Unknown"]},
        "reason": {},
        "message": {},
        "lastTransitionTime": {},
    }
    module = AnsibleModule(
        argument_spec={
            "api_version": {"aliases": ["api", "version"], "default": "v1"},
            "kind": {"required": True},
            "name": {"required": True},
            "namespace": {},
            "status": {"type": "dict"},
            "conditions": {"type": "list", "elements": "dict", "options": condition_options},
            "force": {"type": "bool", "default": False},
            "kubeconfig": {"type": "path", "fallback": (env_fallback, ["K8S_AUTH_KUBECONFIG", "KUBECONFIG"])},
        },
        supports_check_mode=True,
    )
    if MISSING:
        module.fail_json(msg="the Python package kubernetes cannot be imported: " + MISSING)
    try:
        configuration = Configuration()
        config.load_kube_config(config_file=module.params["kubeconfig"], client_configuration=configuration)
        client = dynamic.DynamicClient(ApiClient(configuration))
        resource = client.resources.get(api_version=module.params["api_version"], kind=module.params["kind"])
        module.exit_json(changed=write(module, resource))
    except Exception as error:
        module.fail_json(msg="the status cannot be written: {0}".format(error))


if __name__ == "__main__":
    main()
