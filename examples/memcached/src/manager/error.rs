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

//! Why the operator cannot start or go on, and how errors are told.

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("no cluster to talk to: set KUBECONFIG, or run in a Pod with a service account: {0}")]
    NoCluster(#[source] kube::Error),
    #[error("the API server does not answer: {0}")]
    Unreachable(#[source] kube::Error),
    #[error("the API server answers \"{0}\": check the credentials of KUBECONFIG, then the server")]
    Refused(String),
    #[error("the cluster does not know `{0}`: install the CRDs (`make install`), then start again")]
    NotInstalled(String),
    #[error("missing rights: {0}; see config/rbac/role.yaml")]
    Forbidden(String),
    #[error(transparent)]
    Server(#[from] std::io::Error),
    #[error(
        "`--lease-duration` must be longer than `--renew-deadline`, and that twice as long as `--retry-period`"
    )]
    LeaseOptions,
    #[error("this replica may not lead any more: {0}")]
    LeadershipLost(String),
    #[error("`{0}` ended before shutdown")]
    Ended(&'static str),
    #[error("a task panicked or was aborted: {0}")]
    Task(#[from] tokio::task::JoinError),
    #[error("reconciles were still running {0} seconds after shutdown began")]
    GracePeriod(u64),
    #[error("a second signal cut the shutdown short")]
    CutShort,
}

impl From<kube::Error> for Error {
    fn from(error: kube::Error) -> Self {
        match error {
            kube::Error::Api(status) if status.is_forbidden() => Self::Forbidden(status.message),
            kube::Error::Api(status) => Self::Refused(status.message),
            error => Self::Unreachable(error),
        }
    }
}

/// What went wrong with a request, in a sentence: kube's own text repeats the whole answer.
pub fn brief(error: &kube::Error) -> String {
    match error {
        kube::Error::Api(status) => status.to_string(),
        error => with_causes(error),
    }
}

/// The error and what caused it, in one line; a cause that a message already names is not repeated.
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let message = error.to_string();
        if !text.contains(&message) {
            text = format!("{text}: {message}");
        }
        cause = error.source();
    }
    text
}
