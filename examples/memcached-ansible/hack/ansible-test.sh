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

# Runs the operator on this machine, and plays the scenario in molecule/default against the API server of KUBECONFIG, which has the CRDs:
# `make test-ansible` starts one for the test. Molecule plays the same files: `molecule test`, while an operator runs.
set -euo pipefail
cd "$(dirname "$0")/.."

log=$(mktemp)
cargo build --bin manager
# It becomes the manager, so that SIGTERM reaches that.
cargo run --quiet --bin manager > "$log" 2>&1 &
manager=$!
stop() {
    kill -TERM "$manager" 2> /dev/null || true
    wait "$manager" || true
    rm -f "$log"
}
trap stop EXIT

play() {
    kill -0 "$manager" || { cat "$log" >&2; echo "error: the operator has stopped" >&2; exit 1; }
    ansible-playbook "molecule/default/$1.yml" && return
    cat "$log" >&2
    echo "error: molecule/default/$1.yml failed; the log of the operator is above" >&2
    exit 1
}
play converge
play verify
play cleanup
