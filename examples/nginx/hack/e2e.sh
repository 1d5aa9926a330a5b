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

# Builds the image, runs it in a kind cluster made for this test, and sees the samples become Ready.
set -euo pipefail

cluster=${KIND_CLUSTER:-nginx-operator-e2e}
kubectl=${KUBECTL:-kubectl}
kind=${KIND:-kind}
tool=${CONTAINER_TOOL:-docker}
opctl=${OPCTL:-opctl}
image=nginx-operator:e2e
namespace=nginx-operator-system

for program in "$kind" "$kubectl" "$tool" "$opctl" make; do
    if ! command -v "$program" > /dev/null; then
        echo "test-e2e needs \`$program\`, which is not on PATH" >&2
        exit 1
    fi
done
if "$kind" get clusters 2> /dev/null | grep -qx "$cluster"; then
    echo "there is a kind cluster \`$cluster\` already: delete it, or set KIND_CLUSTER to another name" >&2
    exit 1
fi

folder=$(mktemp -d)
export KUBECONFIG=$folder/kubeconfig
trap '"$kind" delete cluster --name "$cluster"; rm -rf "$folder"' EXIT

make docker-build IMG="$image" CONTAINER_TOOL="$tool"
"$kind" create cluster --name "$cluster" --wait 120s
"$kind" load docker-image "$image" --name "$cluster"
if ! make deploy IMG="$image" KUBECTL="$kubectl" OPCTL="$opctl"; then
    "$kubectl" -n "$namespace" describe pods
    "$kubectl" -n "$namespace" logs -l control-plane=controller-manager --tail=100
    exit 1
fi

if ! ls config/samples/*_*.yaml > /dev/null 2>&1; then
    echo "there are no samples"
    exit 0
fi
"$kubectl" apply -k config/samples
"$kubectl" kustomize config/samples | "$kubectl" wait --for=condition=Ready --timeout=60s -f -
