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

# Installs Ansible with its collections in a virtual environment: `bash hack/ansible.sh .venv`. What is downloaded is compared with the
# checksums in requirements.txt and requirements.sha256. PYTHON names another Python than python3, which needs its module venv.
set -euo pipefail
cd "$(dirname "$0")/.."

venv=$1
fail() { echo "error: hack/ansible.sh: $*" >&2; exit 1; }
"${PYTHON:-python3}" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || fail "Ansible needs Python 3.11 or newer: set PYTHON"
"${PYTHON:-python3}" -m venv "$venv"
python=$venv/bin/python
"$python" -m pip install --disable-pip-version-check --quiet --require-hashes --requirement requirements.txt
site=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')

# kubernetes.core is taken from the package `ansible`, without the other collections there: so Galaxy is needed for your own ones only.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "ansible==12.3.0 --hash=sha256:cd156f82fa87f7a899212b0efa9f7ca3a24d609212de9f78428a572eb01e5414" > "$work/bundle.txt"
"$python" -m pip download --disable-pip-version-check --quiet --no-deps --require-hashes --requirement "$work/bundle.txt" --dest "$work"
"$python" - "$work"/*.whl "$site" << 'END'
import sys, zipfile
bundle = zipfile.ZipFile(sys.argv[1])
bundle.extractall(sys.argv[2], [name for name in bundle.namelist() if name.startswith("ansible_collections/kubernetes/core/")])
END
ANSIBLE_COLLECTIONS_PATH=$site "$venv/bin/ansible-galaxy" collection install --requirements-file requirements.yml --collections-path "$site"

# The manifest of a collection has the checksums of its files, which were compared when it was installed.
for manifest in "$site"/ansible_collections/*/*/MANIFEST.json; do
    sum=$("$python" -c 'import hashlib, sys; print(hashlib.sha256(open(sys.argv[1], "rb").read()).hexdigest())' "$manifest")
    line="$sum  ${manifest#"$site"/}"
    grep --quiet --fixed-strings --line-regexp "$line" requirements.sha256 \
        || fail "this collection is not in requirements.sha256; add the line if you trust it: $line"
done
