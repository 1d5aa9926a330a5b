//! A controller that installs a chart for each object of a kind.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{PartialObjectMeta, Patch, PatchParams};
use kube::runtime::watcher;
use kube::{Resource, ResourceExt};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::annotations::{self, RETRY};
use super::release::{Drift, Release};
use super::set::Setting;
use super::values::{ValuesFrom, merge};
use crate::apply;
use crate::controller::Controller;
use crate::manager::{self, Runnable};
use crate::untyped::Untyped;
use crate::{Context, Error, Outcome, Result};

/// A controller that installs a chart for each object of kind `K`, and upgrades it when the object or the chart
/// changes. The unmodified `spec` is passed to helm as `--values`. The status is a
/// [`ReleaseStatus`](super::ReleaseStatus).
///
/// The release has the name and the namespace of the object. It is uninstalled before the object is deleted.
///
/// ```no_run
/// # use k8s_openapi::api::core::v1::ConfigMap as Nginx;
/// use opctl_runtime::Runnable;
/// use opctl_runtime::helm::ChartController;
///
/// /// Installs the chart in `helm-charts/nginx`.
/// pub fn controller() -> Runnable {
///     ChartController::<Nginx>::new("nginx").into()
/// }
/// ```
///
/// Annotations of operator-sdk are supported: `helm.sdk.operatorframework.io/upgrade-force`, `reconcile-period`, and
/// those that disable hooks and describe a release.
// +kubebuilder:rbac:groups=core,resources=secrets,verbs=get;list;create;update;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create
pub struct ChartController<K> {
    release: Release,
    chart: String,
    prefix: String,
    finalizer: &'static str,
    period: Option<Duration>,
    config: watcher::Config,
    settings: Vec<Setting>,
    values: Option<Arc<Values<K>>>,
    sources: Option<Arc<Sources<K>>>,
}

const FINALIZER: &str = "opctl-runtime/uninstall-release";

type Values<K> = dyn Fn(Arc<K>, Arc<Context>, Value) -> BoxFuture<'static, Result<Value>> + Send + Sync;
type Sources<K> = dyn Fn(&K) -> Vec<ValuesFrom> + Send + Sync;

/// The kinds that a `ChartController` supports: types with `#[derive(CustomResource)]`.
pub trait Kind: Resource<DynamicType = (), Scope: 'static> + DeserializeOwned + Send + Sync + 'static {}

impl<K: Resource<DynamicType = (), Scope: 'static> + DeserializeOwned + Send + Sync + 'static> Kind for K {}

impl<K: Kind> ChartController<K> {
    /// A controller for the chart in this folder below `--helm-charts`.
    pub fn new(chart: impl Into<String>) -> Self {
        let chart = chart.into();
        Self {
            release: Release::new(chart.clone()),
            chart,
            prefix: String::new(),
            finalizer: FINALIZER,
            period: None,
            config: watcher::Config::default(),
            settings: Vec::new(),
            values: None,
            sources: None,
        }
    }

    /// Computes the values: `values` gets the object, and its spec merged with the [values from Secrets and
    /// ConfigMaps](Self::values_from), and returns the values for helm.
    #[must_use]
    pub fn values<F, E>(mut self, values: impl Fn(Arc<K>, Arc<Context>, Value) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<Value, E>> + Send + 'static,
        E: Into<Error>,
    {
        self.values = Some(Arc::new(move |object, ctx, given| {
            values(object, ctx, given).map(|it| it.map_err(Into::into)).boxed()
        }));
        self
    }

    /// Sets a value for all objects, like `helm --set PATH=VALUE`: `.set("image.repository", "${RELATED_IMAGE_WEB}")`.
    /// It takes precedence over the spec. `$NAME` and `${NAME}` are environment variables of the operator, which does
    /// not start without them.
    ///
    /// # Panics
    ///
    /// If the path is invalid.
    #[must_use]
    pub fn set(mut self, path: &str, value: &str) -> Self {
        self.settings.push(Setting::new(path, value, false));
        self
    }

    /// Like `helm --set-string`: the value is a string, even if it looks like a number.
    ///
    /// # Panics
    ///
    /// If the path is invalid.
    #[must_use]
    pub fn set_string(mut self, path: &str, value: &str) -> Self {
        self.settings.push(Setting::new(path, value, true));
        self
    }

    /// Adds values from Secrets and ConfigMaps in the object's namespace. Later ones take precedence, and the spec over
    /// all of them. A change of one of them upgrades the release.
    #[must_use]
    pub fn values_from(mut self, sources: impl Fn(&K) -> Vec<ValuesFrom> + Send + Sync + 'static) -> Self {
        self.sources = Some(Arc::new(sources));
        self
    }

    /// Changes the settings of releases:
    /// `.release(|release| release.attempts(3).ignore("Deployment", "/spec/replicas"))`.
    #[must_use]
    pub fn release(mut self, settings: impl FnOnce(Release) -> Release) -> Self {
        self.release = settings(self.release);
        self
    }

    /// Sets a prefix for names of releases, so that objects of several kinds may have the same name.
    #[must_use]
    pub fn name_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Sets the finalizer. The default is `opctl-runtime/uninstall-release`. For objects of an operator-sdk operator,
    /// use `helm.sdk.operatorframework.io/uninstall-release`.
    #[must_use]
    pub fn finalizer(mut self, name: &'static str) -> Self {
        self.finalizer = name;
        self
    }

    /// Sets the interval between checks for drift without watch events. The default is `--requeue-interval`.
    #[must_use]
    pub fn period(mut self, period: Duration) -> Self {
        self.period = Some(period);
        self
    }

    /// Sets the action on drift: objects that others have changed. The default is [`Drift::Correct`].
    #[must_use]
    pub fn drift(self, drift: Drift) -> Self {
        self.release(|release| release.drift(drift))
    }

    /// Restricts the watch to selected objects: `watcher::Config::default().labels("app=web")`.
    #[must_use]
    pub fn config(mut self, config: watcher::Config) -> Self {
        self.config = config;
        self
    }

    /// The release of an object, and its reconcile period.
    fn release_of(&self, object: &Untyped<K>) -> (Release, Option<Duration>) {
        let mut release = self.release.clone().named(format!("{}{}", self.prefix, object.name_any()));
        let period = annotations::read(object.annotations(), &mut release.settings);
        release.settings.retry = object.annotations().get(RETRY).cloned();
        (release, period.or(self.period))
    }

    async fn reconcile(self: Arc<Self>, object: Arc<Untyped<K>>, ctx: Arc<Context>) -> Result<Outcome> {
        if self.finalizer != FINALIZER {
            forget_conditions(&object, &ctx).await?;
        }
        let values = self.values_of(&object, &ctx).await?;
        let (release, period) = self.release_of(&object);
        let outcome = release.values(values).apply(&*object, &ctx).await?.outcome();
        Ok(match period.filter(|_| outcome.action().is_none()) {
            Some(period) => outcome.requeue_after(period),
            None => outcome,
        })
    }

    /// The values that are the same for all objects.
    fn set_values(&self) -> Result<Value> {
        let mut values = json!({});
        self.settings.iter().try_for_each(|setting| setting.apply(&mut values)).map(|()| values)
    }

    async fn values_of(&self, object: &Untyped<K>, ctx: &Arc<Context>) -> Result<Value> {
        let mut values = json!({});
        if let Some(sources) = &self.sources {
            let namespace = object.namespace().unwrap_or_default();
            for source in sources(&object.typed()?) {
                let more = source.read(&ctx.client, &namespace).await?;
                if !more.is_null() {
                    merge(&mut values, more);
                }
            }
        }
        match &object.spec {
            Value::Null => {}
            spec @ Value::Object(_) => merge(&mut values, spec.clone()),
            _ => return Err(Error::new("InvalidSpec", "`spec` is not an object").permanent()),
        }
        merge(&mut values, self.set_values()?);
        match &self.values {
            Some(change) => change(Arc::new(object.typed()?), ctx.clone(), values).await,
            None => Ok(values),
        }
    }
}

/// Removes conditions of operator-sdk that this crate does not set: its operator is gone, so they would never change
/// again.
async fn forget_conditions<K: Kind>(object: &Untyped<K>, ctx: &Context) -> Result<()> {
    let conditions = object.status["conditions"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_left =
        |it: &&Value| ["Initialized", "Irreconcilable", "ReleaseFailed"].iter().any(|type_| it["type"] == *type_);
    let (left, kept): (Vec<&Value>, Vec<&Value>) = conditions.iter().partition(is_left);
    if left.is_empty() {
        return Ok(());
    }
    let patch = Patch::Merge(json!({
        "metadata": { "resourceVersion": object.metadata.resource_version },
        "status": { "conditions": kept },
    }));
    let url = Untyped::<K>::url_path(&(), object.namespace().as_deref());
    apply::patch(&ctx.client, &url, &object.name_any(), Some("status"), &PatchParams::default(), &patch).await?;
    Ok(())
}

impl<K: Kind> From<ChartController<K>> for Runnable {
    fn from(mut this: ChartController<K>) -> Self {
        let (finalizer, config, sources) = (this.finalizer, std::mem::take(&mut this.config), this.sources.clone());
        let this = Arc::new(this);
        let [reconciler, cleaner, checker] = [(); 3].map(|()| this.clone());
        let mut controller =
            Controller::<Untyped<K>>::new(move |object, ctx| reconciler.clone().reconcile(object, ctx))
                .config(config)
                .releases()
                .finalizer(finalizer, move |object: Arc<Untyped<K>>, ctx: Arc<Context>| {
                    let (release, _) = cleaner.release_of(&object);
                    async move { release.uninstall(&*object, &ctx).await }
                })
                .check(move |ctx| checker.clone().check(ctx).boxed());
        if let Some(sources) = sources {
            let names = |object: &Untyped<K>,
                         sources: &Sources<K>,
                         namespace: Option<&str>,
                         is_it: &dyn Fn(&ValuesFrom) -> bool| {
                object.metadata.namespace.as_deref() == namespace
                    && object.typed().is_ok_and(|object| sources(&object).iter().any(is_it))
            };
            let (of_secrets, of_maps) = (sources.clone(), sources);
            controller = controller
                .watches_when(move |object, changed: &PartialObjectMeta<Secret>| {
                    let name = changed.name_any();
                    names(object, &*of_secrets, changed.metadata.namespace.as_deref(), &|it| it.is_secret(&name))
                })
                .watches_when(move |object, changed: &PartialObjectMeta<ConfigMap>| {
                    let name = changed.name_any();
                    names(object, &*of_maps, changed.metadata.namespace.as_deref(), &|it| it.is_config_map(&name))
                });
        }
        controller.into()
    }
}

impl<K: Kind> ChartController<K> {
    /// Fails the start of the operator if every release would fail.
    async fn check(self: Arc<Self>, ctx: Context) -> Result<(), manager::Error> {
        ctx.helm.check().await?;
        let chart = ctx.helm.chart(&self.chart).map(drop);
        chart
            .and_then(|()| self.set_values())
            .map(drop)
            .map_err(|error| manager::Error::Other(error.to_string().into()))
    }
}

impl<K> Debug for ChartController<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChartController").field("chart", &self.chart).finish_non_exhaustive()
    }
}
