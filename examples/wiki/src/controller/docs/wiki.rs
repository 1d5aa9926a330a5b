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

//! Reconciles `Wiki` objects: installs the chart in `helm-charts/wiki` for each of them.

use kube::ResourceExt;
use opctl_runtime::Runnable;
use opctl_runtime::helm::{ChartController, ValuesFrom};

use crate::api::docs::v1::wiki::Wiki;

mod permissions;

/// Builds the controller; `controller::all` starts it. The spec of an object is passed to the chart as its values.
// +kubebuilder:rbac:groups=docs.example.com,resources=wikis,verbs=list;patch;watch
// +kubebuilder:rbac:groups=docs.example.com,resources=wikis/status,verbs=patch
pub fn controller() -> Runnable {
    ChartController::<Wiki>::new("wiki")
        .values_from(passwords)
        .into()
}

/// A password is in no spec: that of the mail server is in the Secret `<name>-smtp-password`.
fn passwords(wiki: &Wiki) -> Vec<ValuesFrom> {
    let secret = ValuesFrom::secret(format!("{}-smtp-password", wiki.name_any()));
    vec![secret.key("password").at("smtp.password").optional()]
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_chart_is_there() {
        let chart = Path::new(env!("CARGO_MANIFEST_DIR")).join("helm-charts/wiki");
        assert!(chart.join("Chart.yaml").is_file());
        controller();
    }
}
