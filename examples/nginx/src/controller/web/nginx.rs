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

//! Reconciles `Nginx` objects: installs the chart in `helm-charts/nginx` for each of them.

use opctl_runtime::Runnable;
use opctl_runtime::helm::ChartController;

use crate::api::web::v1::nginx::Nginx;

mod permissions;

/// Builds the controller; `controller::all` starts it. The spec of an object is passed to the chart as its values.
// +kubebuilder:rbac:groups=web.example.com,resources=nginxes,verbs=list;patch;watch
// +kubebuilder:rbac:groups=web.example.com,resources=nginxes/status,verbs=patch
pub fn controller() -> Runnable {
    ChartController::<Nginx>::new("nginx").into()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_chart_is_there() {
        let chart = Path::new(env!("CARGO_MANIFEST_DIR")).join("helm-charts/nginx");
        assert!(chart.join("Chart.yaml").is_file());
        controller();
    }
}
