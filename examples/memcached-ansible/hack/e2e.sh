#!/usr/bin/env bash
# Copyright The opctl Authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

# Deploys the operator with its own image, sees the samples become Ready, also after an upgrade, and removes all of it again.
#
# It makes a kind cluster for the test where kind and docker are, and otherwise uses the cluster of KUBECONFIG, where the operator
# must not be installed. Variables:
#   E2E_CLUSTER   `kind`, or `current`: that of KUBECONFIG
#   E2E_NODES     with kind: images of its nodes; the test runs once with each: `kindest/node:v1.34.11 kindest/node:v1.37.0`
#   E2E_IMAGE     the name of the image
#   E2E_BUILD     the command that builds $E2E_IMAGE
#   E2E_LOAD      the command that brings $E2E_IMAGE to the nodes: `minikube image load "$E2E_IMAGE"`, or
#                 `docker push "$E2E_IMAGE"` to a registry that they pull from
#   E2E_SETUP     a command that installs what the operator needs, such as cert-manager
#   E2E_TIMEOUT   of each wait [default: 120s]
#   PREVIOUS      install.yaml of an earlier release, a file or an address: the test installs it first, and upgrades
set -euo pipefail

kubectl=${KUBECTL:-kubectl}
kind=${KIND:-kind}
opctl=${OPCTL:-opctl}
cluster=${KIND_CLUSTER:-memcached-ansible-e2e}
timeout=${E2E_TIMEOUT:-120s}
previous=${PREVIOUS:-}
namespace=memcached-ansible-system
# Namespaces that the operator watches, separated by commas; empty: all.
watched=
IFS=, read -ra namespaces <<< "$namespace${watched:+,$watched}"
export E2E_IMAGE=${E2E_IMAGE:-memcached-ansible:e2e}

step() { printf '\n=== %s\n' "$*" >&2; }
fail() { echo "error: test-e2e: $*" >&2; exit 1; }

if [ -z "${E2E_CLUSTER:-}" ]; then
    if command -v "$kind" > /dev/null && docker info > /dev/null 2>&1; then E2E_CLUSTER=kind
    elif [ -n "${KUBECONFIG:-}" ]; then E2E_CLUSTER=current
    else fail "there is no kind with docker: install them, or set KUBECONFIG to that of a cluster for tests"; fi
fi
case $E2E_CLUSTER in
    kind) command -v "$kind" > /dev/null || fail "\`$kind\` is not on PATH"; load=${E2E_LOAD:-"\"$kind\" load docker-image \"\$E2E_IMAGE\" --name \"$cluster\""} ;;
    current) load=${E2E_LOAD:?is the command that brings the image to the nodes; \`true\` if it is there already} ;;
    *) fail "E2E_CLUSTER is \`kind\` or \`current\`, not \`$E2E_CLUSTER\`" ;;
esac
for program in "$kubectl" "$opctl" make; do
    command -v "$program" > /dev/null || fail "\`$program\` is not on PATH"
done
if [ -n "$previous" ] && [[ $previous != http*://* ]] && [ ! -f "$previous" ]; then fail "PREVIOUS: there is no file \`$previous\`"; fi

folder=$(mktemp -d)
made='' installed=''
samples() { "$kubectl" ${watched:+--namespace "${watched%%,*}"} "$@"; }
has_samples() { ls config/samples/*_*.yaml > /dev/null 2>&1; }
# Writes the identity of each object to a file, and what users have specified.
identity() { samples get -f "$folder/samples.yaml" -o custom-columns=NAME:.metadata.name,UID:.metadata.uid,SPEC:.spec > "$1"; }
# The objects of the operator that are in the cluster.
left() { "$kubectl" get --ignore-not-found --output name -f "$folder/manifests.yaml"; }

clean_up() {
    local code=$?
    trap - EXIT
    if [ $code != 0 ] && [ -n "$installed" ]; then
        step "why"
        "$kubectl" -n "$namespace" describe pods || true
        "$kubectl" -n "$namespace" logs -l control-plane=controller-manager --tail=100 --all-containers || true
    fi
    if [ -n "$made" ]; then "$kind" delete cluster --name "$cluster" || code=1
    elif [ -n "$installed" ]; then remove || code=1; fi
    rm -rf "$folder"
    exit $code
}
trap clean_up EXIT

remove() {
    step "remove"
    # Objects that samples own are deleted first: once the CRD is gone, Kubernetes may not find their owners.
    if has_samples; then
        samples delete --ignore-not-found --cascade=foreground --timeout "$timeout" -f "$folder/samples.yaml" || return
    fi
    "$opctl" undeploy --delete-crds --yes --timeout "$timeout" --kubectl "$kubectl" || return
    "$kubectl" delete namespace --ignore-not-found --timeout "$timeout" "${namespaces[@]}" || return
    installed=''
    local objects
    objects=$(left) || return
    [ -z "$objects" ] || fail "these objects are left: $objects"
}

# The Service of webhooks may reach their Pod a moment after it is ready.
retried() {
    for _ in 1 2 3 4 5; do
        if "$@"; then return; fi
        sleep 3
    done
    return 1
}

# Of the kinds that the operator brings: a sample of another one, such as a Deployment to work on, may never have this condition.
await_samples() {
    [ ! -s "$folder/own.yaml" ] || samples wait --for=condition=Ready --timeout "$timeout" -f "$folder/own.yaml"
}

# Prints the documents of the first file whose kinds have a CRD in the second one.
own_kinds() {
    awk '
        function flush() { if (version in groups) printf "%s---\n", text; text = version = "" }
        NR == FNR { if (/^kind: /) is_crd = $2 == "CustomResourceDefinition"; else if (is_crd && /^  group: /) groups[$2]; next }
        /^---$/ { flush(); next }
        /^apiVersion: / { version = $2; sub(/\/.*/, "", version) }
        { text = text $0 "\n" }
        END { flush() }
    ' "$2" "$1"
}

test_in_cluster() {
    eval "${E2E_SETUP:-true}"
    step "load the image: $load"
    eval "$load"
    "$opctl" deploy --image "$E2E_IMAGE" --kubectl "$kubectl" --print > "$folder/manifests.yaml"
    if has_samples; then own_kinds "$folder/samples.yaml" "$folder/manifests.yaml" > "$folder/own.yaml"; fi
    local objects
    objects=$(left)
    [ -z "$objects" ] || fail "the operator is in this cluster already, and the test would remove it: $objects"
    installed=yes
    for other in "${namespaces[@]}"; do
        [ "$other" = "$namespace" ] || "$kubectl" create namespace "$other"
    done
    if [ -n "$previous" ]; then
        step "install $previous"
        "$kubectl" apply --server-side -f "$previous"
        "$kubectl" -n "$namespace" rollout status --timeout "$timeout" deployment -l control-plane=controller-manager
    else
        step "deploy"
        "$opctl" deploy --image "$E2E_IMAGE" --timeout "$timeout" --kubectl "$kubectl"
    fi
    step "samples"
    if has_samples; then retried samples apply -f "$folder/samples.yaml" || fail "the samples cannot be created"; fi
    await_samples
    if [ -n "$previous" ]; then
        if has_samples; then identity "$folder/before"; fi
        step "upgrade"
        "$opctl" deploy --image "$E2E_IMAGE" --timeout "$timeout" --kubectl "$kubectl"
        if has_samples; then
            retried identity "$folder/after" || fail "the samples cannot be read after the upgrade"
            await_samples
            identity "$folder/after"
            diff "$folder/before" "$folder/after" || fail "the upgrade has changed or replaced objects"
        fi
    fi
    remove
}

step "build $E2E_IMAGE"
# stdout is for results.
eval "${E2E_BUILD:-make docker-build IMG=\"\$E2E_IMAGE\"}" >&2
if has_samples; then "$kubectl" kustomize config/samples > "$folder/samples.yaml"; fi
if [ "$E2E_CLUSTER" = current ]; then
    test_in_cluster
    exit
fi
if "$kind" get clusters 2> /dev/null | grep -qx "$cluster"; then
    fail "there is a kind cluster \`$cluster\` already: delete it, or set KIND_CLUSTER to another name"
fi
export KUBECONFIG=$folder/kubeconfig
for node in ${E2E_NODES:-default}; do
    step "a kind cluster with the node image $node"
    made=yes
    options=(--name "$cluster" --wait 120s)
    [ "$node" = default ] || options+=(--image "$node")
    "$kind" create cluster "${options[@]}"
    test_in_cluster
    "$kind" delete cluster --name "$cluster"
    made=''
done
