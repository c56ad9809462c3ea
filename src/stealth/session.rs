//! `Session`: an identity and a proxy for one task. `Sessions`: where they come from.
//!
//! A session keeps its headers, cookies and connection as long as it goes well. Refused or broken, it rotates: a new proxy,
//! a new identity, an empty jar, within the bounds of `rotation`. It must not know tasks or platforms: a [`Request`] and a
//! platform's judgement go in, a [`Response`] or the last [`FetchError`] comes out. Nothing leaves without a proxy.

use std::sync::Arc;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::allowlist::AllowList;
use super::error::FetchError;
use super::failure::Failure;
use super::identity::{Identities, Identity};
use super::locale::{StateLocale, States};
use super::politeness::Politeness;
use super::proxy::{ProxyAsk, ProxyId, ProxySource};
use super::request::{Request, Response};
use super::rotation::{self, Limits, Spent, Step};
use super::tls::TlsSetupError;
use super::trace::TraceHandle;
use super::transport::Transport;
use super::way::Way;
use crate::clock::Clock;
use crate::config;
use crate::events;

/// What all sessions of a process are made of.
pub struct Parts {
    pub proxies: Arc<dyn ProxySource>,
    pub identities: Identities,
    pub states: States,
    pub allowed_hosts: AllowList,
    pub http: config::Http,
    pub rotations: config::Proxies,
    pub politeness: config::Politeness,
    pub clock: Clock,
}

/// What a session should know of the store it is for.
#[derive(Clone, Debug, Default)]
pub struct SessionAsk {
    pub state: Option<String>,
    /// Beats the state's.
    pub timezone: Option<String>,
    /// Hosts (with port where it is not the scheme's own) that this store brings with it.
    pub hosts: Vec<String>,
}

/// The platform's word on an answer that arrived well.
pub type Classify<'a> = &'a (dyn Fn(&Response) -> Result<(), FetchError> + Sync);

#[derive(Clone)]
pub struct Sessions(Arc<Shared>);

pub(super) struct Shared {
    pub(super) proxies: Arc<dyn ProxySource>,
    identities: Identities,
    states: States,
    allowed: AllowList,
    pub(super) transport: Transport,
    politeness: Politeness,
    limits: Limits,
    pub(super) clock: Clock,
}

pub struct Session {
    shared: Arc<Shared>,
    ask: SessionAsk,
    locale: StateLocale,
    allowed: AllowList,
    rng: StdRng,
    way: Option<Way>,
    used_fingerprints: Vec<String>,
    tries_of_the_task: u32,
    trace: TraceHandle,
}

impl Sessions {
    /// Errors: an extra CA file that cannot be read.
    pub fn new(parts: Parts) -> Result<Sessions, TlsSetupError> {
        let limits =
            Limits { per_request: parts.rotations.rotations_per_request, per_task: parts.rotations.rotations_per_task };
        Ok(Sessions(Arc::new(Shared {
            proxies: parts.proxies,
            identities: parts.identities,
            states: parts.states,
            allowed: parts.allowed_hosts,
            politeness: Politeness::new(parts.politeness, parts.http.whole_timeout, parts.clock.clone()),
            transport: Transport::new(parts.http)?,
            limits,
            clock: parts.clock,
        })))
    }

    /// A session for one task. It asks for a proxy when it first sends.
    pub fn open(&self, ask: SessionAsk) -> Session {
        let mut locale = self.0.states.of(ask.state.as_deref()).clone();
        if let Some(timezone) = &ask.timezone {
            locale.timezone.clone_from(timezone);
        }
        Session {
            allowed: self.0.allowed.with(ask.hosts.iter().cloned()),
            shared: Arc::clone(&self.0),
            ask,
            locale,
            rng: StdRng::from_rng(&mut rand::rng()),
            way: None,
            used_fingerprints: Vec::new(),
            tries_of_the_task: 0,
            trace: TraceHandle::default(),
        }
    }
}

impl Session {
    /// Sends `request` until it is answered well, at most the configured number of rotations and retries more.
    ///
    /// `classify` is asked about answers that arrived well; what it returns is acted on like any other error. A proxy is
    /// blamed only for its own failures and for blocks.
    pub async fn send(&mut self, request: &Request, classify: Classify<'_>) -> Result<Response, FetchError> {
        self.check(request)?;
        let mut tries = Tries::of(request);
        loop {
            let mut way = match self.way.take() {
                Some(way) => way,
                None => self.open_way(request, &tries).await?,
            };
            // the proxy first: whoever waited for one in its turn would keep those who have one from using it
            let turn = self.shared.politeness.turn(request.host()).await?;
            let failure = match way.attempt(&self.shared, &self.trace, request, classify).await {
                Ok(response) => {
                    self.way = Some(way);
                    return Ok(response);
                }
                Err(failure) => failure,
            };
            drop(turn);
            match self.next_step(&failure, &tries) {
                Step::GiveUp => {
                    self.way = failure.is_of_the_answer().then_some(way);
                    return Err(failure.error);
                }
                Step::Rotate => tries.leave(way, failure),
                Step::Wait { pause, anew: true } => {
                    tries.leave(way, failure);
                    tokio::time::sleep(pause).await;
                }
                Step::Wait { pause, anew: false } => {
                    tries.count(failure);
                    self.way = Some(way);
                    tokio::time::sleep(pause).await;
                }
            }
            self.tries_of_the_task += 1;
        }
    }

    /// The human pause before the next page of the same menu.
    pub async fn pause_between_pages(&mut self) {
        tokio::time::sleep(self.shared.politeness.page_pause(self.rng.random())).await;
    }

    /// What has been used and met so far; goes on being true while the session works.
    pub fn trace(&self) -> TraceHandle {
        self.trace.clone()
    }

    /// The store's timezone, else its state's.
    pub fn timezone(&self) -> &str {
        &self.locale.timezone
    }

    /// What must be true before anything is sent: a host on the list, and an API call to the host of its own page, since
    /// a browser would ask leave first (preflight) for any other.
    fn check(&self, request: &Request) -> Result<(), FetchError> {
        self.allowed.check(&request.url)?;
        if request.url.origin() != request.referer.origin() {
            let why = "its page is of another origin".to_owned();
            return Err(FetchError::Refused { what: request.host().to_owned(), why });
        }
        Ok(())
    }

    /// A new proxy, a new identity, an empty jar. When no proxy comes free for a second try, the first one's failure counts.
    async fn open_way(&mut self, request: &Request, tries: &Tries) -> Result<Way, FetchError> {
        let ask = ProxyAsk {
            host: request.host().to_owned(),
            state: self.ask.state.clone(),
            timezone: Some(self.locale.timezone.clone()),
            avoid: tries.avoid.clone(),
        };
        let lease = self.shared.proxies.lease(ask).await.map_err(|error| tries.last.clone().unwrap_or(error))?;
        let fingerprint = self.shared.identities.draw(&mut self.rng, &self.used_fingerprints);
        self.trace.opened(lease.proxy.id, &fingerprint.id);
        self.used_fingerprints.push(fingerprint.id.clone());
        Ok(Way::new(lease, Identity::new(fingerprint, &self.locale)))
    }

    fn next_step(&mut self, failure: &Failure, tries: &Tries) -> Step {
        let spent = Spent { request: tries.made, task: self.tries_of_the_task };
        let jitter = self.rng.random();
        rotation::next(&failure.error.disposition(), failure.suspect_hop, spent, self.shared.limits, jitter)
    }
}

/// What one request has been through.
struct Tries {
    host: String,
    made: u32,
    avoid: Vec<ProxyId>,
    last: Option<FetchError>,
}

impl Tries {
    fn of(request: &Request) -> Self {
        Tries { host: request.host().to_owned(), made: 0, avoid: Vec::new(), last: None }
    }

    fn count(&mut self, failure: Failure) {
        self.made += 1;
        self.last = Some(failure.error);
    }

    fn leave(&mut self, way: Way, failure: Failure) {
        let reason = if failure.is_a_block() { "blocked" } else { "proxy" };
        events::rotated(&self.host, reason, &failure.error);
        self.avoid.push(way.proxy());
        self.count(failure);
    }
}

/// Whoever is told to wait for nothing, or until a time that has passed, would ask without end.
const LEAST_PATIENCE: Duration = Duration::from_secs(1);

impl Shared {
    /// A host that asks for patience gets it from every session, up to the cap.
    pub(super) fn obey(&self, error: FetchError) -> FetchError {
        match error {
            FetchError::Throttled { host, status, retry_after: Some(wait) } => {
                let retry_after = Some(self.politeness.hold_off(&host, wait.max(LEAST_PATIENCE)));
                FetchError::Throttled { host, status, retry_after }
            }
            other => other,
        }
    }
}
