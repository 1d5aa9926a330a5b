// Copyright The opctl Authors
//
// Licensed under the Apache License, Version 2.0 (the "License");
// you may not use this file except in compliance with the License.
// You may obtain a copy of the License at
//
//     http://www.apache.org/licenses/LICENSE-2.0
//
// Unless required by applicable law or agreed to in writing, software
// distributed under the License is distributed on an "AS IS" BASIS,
// WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
// See the License for the specific language governing permissions and
// limitations under the License.

//! Runs the operator on a real API server until all samples that have a controller are Ready.

use memcached_ansible::{api, controller};
use opctl_runtime::{operator, testing};

#[tokio::test]
async fn samples_become_ready() {
    let project = env!("CARGO_MANIFEST_DIR");
    testing::samples_become_ready(operator!(), project, &api::crds(), controller::all()).await;
}
