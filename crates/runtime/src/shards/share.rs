//! The watches of a controller that receives the objects of its replica's slots only.
//!
//! An API server that serves `shardSelector` selects the objects by the hash of their uid or namespace; a request with
//! an invalid selector shows if it does. Children are selected by a label. Every object is checked nevertheless: behind
//! a load balancer, one of the servers may not serve it.

use std::future::ready;
use std::sync::Arc;

use futures::future::Either;
use futures::stream::BoxStream;
use futures::{Stream, StreamExt, stream};
use http::{Method, Request, Uri};
use kube::client::Body;
use kube::runtime::watcher::{self, Event};
use kube::{Client, Resource};
use tower::service_fn;
use tracing::debug;

use super::slot::ShardBy;
use super::slots::{Owned, Slots};
use crate::controller::{Generation, Watched};
use crate::{Context, brief};

/// The share of a controller. Clones share `listed`.
#[derive(Clone)]
pub(crate) struct Share {
    pub slots: Arc<Slots>,
    /// The generation of the slots whose objects, with their children, were listed last.
    pub listed: Generation,
}

impl Share {
    pub fn new(slots: Arc<Slots>) -> Self {
        Self { slots, listed: Generation::default() }
    }

    /// Watches the objects of the slots. A change of the slots restarts the watch: its list has what is new, and lacks
    /// what is gone. `generation` is set when a list begins.
    pub fn watch<T, S>(
        &self,
        ctx: &Context,
        watched: Watched,
        config: watcher::Config,
        generation: Generation,
        start: impl Fn(&Context, watcher::Config) -> S + Send + Sync + 'static,
        is_known: impl Fn(&T) -> bool + Send + Sync + 'static,
    ) -> BoxStream<'static, watcher::Result<Event<T>>>
    where
        T: Resource<DynamicType = ()> + Send + 'static,
        S: Stream<Item = watcher::Result<Event<T>>> + Send + 'static,
    {
        let (slots, ctx) = (self.slots.clone(), ctx.clone());
        let (start, is_known) = (Arc::new(start), Arc::new(is_known));
        let generations = stream::unfold((slots.subscribe(), None), |(mut changes, last)| async move {
            let owned = changes.wait_for(|owned| Some(owned.generation) != last).await.ok()?.clone();
            let last = Some(owned.generation);
            Some((owned, (changes, last)))
        });
        let events = generations.flat_map(move |owned| {
            let mut changes = slots.subscribe();
            let (current, generation, ctx) = (owned.generation, generation.clone(), ctx.clone());
            let changed = async move {
                // Fails only while the operator ends.
                let _ = changes.wait_for(|owned| owned.generation != current).await;
            };
            generation.set(current);
            if owned.slots.is_empty() {
                let nothing = stream::iter([Ok(Event::Init), Ok(Event::InitDone)]).chain(stream::pending());
                return Either::Left(nothing.take_until(changed));
            }
            let (start, config, mine) = (start.clone(), config.clone(), slots.clone());
            let url = url::<T>(&ctx);
            let watch = async move {
                let client = mine.narrowed(&ctx.client, &owned, watched, &url).await;
                let config = match watched {
                    Watched::Children(owner) if mine.by == ShardBy::Object => {
                        mine.selecting_children(&ctx.client, &url, owner, &owned, config).await
                    }
                    _ => config,
                };
                start(&ctx.with_client(client), config)
            };
            let (mine, is_known) = (slots.clone(), is_known.clone());
            let is_wanted = move |object: &T| {
                let is_mine = match watched {
                    Watched::Objects => mine.is_mine(object.meta()),
                    Watched::Children(_) => mine.is_child_of_mine(object.meta()),
                };
                is_mine || is_known(object)
            };
            let in_share = move |event: &watcher::Result<Event<T>>| {
                ready(match event {
                    Ok(Event::Apply(object) | Event::InitApply(object) | Event::Delete(object)) => is_wanted(object),
                    Ok(Event::Init | Event::InitDone) | Err(_) => true,
                })
            };
            Either::Right(stream::once(watch).flatten().filter(in_share).take_until(changed))
        });
        events.boxed()
    }
}

impl Slots {
    /// A client whose lists and watches contain only what is in these slots, if the API server selects it.
    async fn narrowed(&self, client: &Client, owned: &Owned, watched: Watched, url: &str) -> Client {
        // A child has a uid of its own, but the namespace of its owner.
        let selects = watched == Watched::Objects || self.by == ShardBy::Namespace;
        if !selects || !is_served(client, url).await {
            return client.clone();
        }
        with_selector(client.clone(), self.count.selector(self.by, owned.slots.keys().copied()))
    }
}

/// The URL of the objects of a kind that this context watches.
fn url<T: Resource<DynamicType = ()>>(ctx: &Context) -> String {
    T::url_path(&(), ctx.namespace())
}

/// `true` if the API server refuses an invalid selector; others ignore the parameter.
async fn is_served(client: &Client, url: &str) -> bool {
    let request = Request::get(format!("{url}?limit=1&shardSelector=invalid")).body(Vec::new());
    match client.request_text(request.expect("the URL of a kind is valid")).await {
        Err(kube::Error::Api(status)) => status.code == 400 && status.message.contains("shard selector"),
        Err(error) => {
            debug!("cannot find out if {url} serves `shardSelector`: {}", brief(&error));
            false
        }
        Ok(_) => false,
    }
}

/// Adds a `shardSelector` to all lists and watches of a client.
fn with_selector(client: Client, selector: String) -> Client {
    let namespace = client.default_namespace().to_owned();
    let valid_until = *client.valid_until();
    let selector: Arc<str> = encoded(&selector).into();
    let send = service_fn(move |mut request: Request<Body>| {
        if *request.method() == Method::GET {
            let uri = request.uri();
            let separator = if uri.query().is_some() { '&' } else { '?' };
            let uri = format!("{uri}{separator}shardSelector={selector}");
            *request.uri_mut() = Uri::try_from(uri).expect("an encoded parameter keeps a URI valid");
        }
        let client = client.clone();
        async move { client.send(request).await }
    });
    Client::new(send, namespace).with_valid_until(valid_until)
}

/// Percent-encodes the value of a query parameter.
fn encoded(text: &str) -> String {
    let byte = |byte: u8| match byte.is_ascii_alphanumeric() || b".-_".contains(&byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}
