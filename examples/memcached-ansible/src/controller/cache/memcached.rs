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

//! Reconciles `Memcached` objects: runs the role `memcached` for each of them.

use opctl_runtime::Runnable;
use opctl_runtime::ansible::AnsibleController;

use crate::api::cache::v1alpha1::memcached::Memcached;

mod permissions;

/// Builds the controller; `controller::all` starts it. The keys of the spec become variables of the run.
// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds,verbs=list;patch;watch
// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds/status,verbs=patch
pub fn controller() -> Runnable {
    AnsibleController::<Memcached>::role("memcached").into()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn what_runs_is_there() {
        let project = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert!(project.join("roles/memcached").exists());
        controller();
    }
}
