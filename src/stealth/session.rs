//! `Session`: the requests of one task, by one route after another. `Sessions`: where they come from.
//!
//! Requests go by one [`Route`] (proxy, identity, cookies, connection) as long as it works. After a failure
//! `rotation` decides: another route at once, the same or another one after a pause, or the end. It must not
//! know tasks or platforms: a [`Request`] and a reader of its answer go in, a [`Response`] with what was
//! read, or the last [`FetchError`], comes out. Nothing leaves without a proxy.

mod document;
mod robots;

use std::sync::Arc;
use std::time::Instant;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use super::deps::{Answers, Exchange, SessionDeps, Suspicion};
use super::failure::Failure;
use super::host_robots::HostRobots;
use super::rotation::{self, ExtraTries, RotationLimits, Step};
use super::route::Route;
use super::transport::{self, Transport};
use super::{
    AllowList, FetchError, FetchMeter, HostRateLimits, HostTable, Identities, Identity, IdentityKind, ProxyAsk,
    ProxyId, ProxySource, Request, Response, RobotsTable, StateLocale, States, TlsSetupError, TraceHandle,
};
use domain::store::StoreId;
use foundation::clock::Clock;
use foundation::memory::MemoryPermit;
use settings::Live;
use telemetry::events;

/// Parts that all sessions of a process are made of.
pub struct SessionConfig {
    pub proxies: Arc<dyn ProxySource>,
    pub identities: Identities,
    pub states: States,
    pub allowed_hosts: AllowList,
    pub http: settings::Http,
    pub proxy_config: Live<settings::Proxies>,
    pub politeness: Live<settings::Politeness>,
    /// The shared states of hosts; None = this process has them for itself.
    pub host_table: Option<Arc<dyn HostTable>>,
    /// The shared answers of hosts to robots.txt; None = it is not asked for.
    pub robots_table: Option<Arc<dyn RobotsTable>>,
    pub clock: Clock,
}

/// Facts that a session needs about its store.
#[derive(Clone, Debug, Default)]
pub struct SessionAsk {
    pub state: Option<String>,
    /// Used instead of the timezone of the state.
    pub timezone: Option<String>,
    /// Hosts (with port where it is not the scheme's own) that this store brings with it.
    pub hosts: Vec<String>,
    /// Store that its requests are counted for; None where they are for none.
    pub store: Option<StoreId>,
    /// The client that it says it is.
    pub identity: IdentityKind,
    /// Whether it is for something that a crawl does without, such as images: it gives way to all other sessions, and its
    /// failures are no fault of its proxies at other hosts.
    pub is_best_effort: bool,
}

#[derive(Clone)]
pub struct Sessions(Arc<SessionDeps>);

pub struct Session {
    deps: Arc<SessionDeps>,
    ask: SessionAsk,
    locale: StateLocale,
    allowed: AllowList,
    rng: StdRng,
    route: Option<Route>,
    used_fingerprints: Vec<String>,
    /// Tries beyond the first of each request, on the same route or a new one.
    extra_tries: u32,
    /// Proxies that are chosen only where no other is available.
    avoided: Vec<ProxyId>,
    trace: TraceHandle,
    memory: MemoryPermit,
}

impl Sessions {
    /// Errors: an extra CA file that cannot be read.
    pub fn new(config: SessionConfig) -> Result<Sessions, TlsSetupError> {
        let meter = config.proxies.meter().unwrap_or_else(|| FetchMeter::new(config.clock.clone()));
        Ok(Sessions(Arc::new(SessionDeps {
            proxies: config.proxies,
            identities: config.identities,
            states: config.states,
            allowed: config.allowed_hosts,
            robots: HostRobots::new(config.politeness.clone(), config.robots_table),
            host_limits: Arc::new(HostRateLimits::new(
                config.politeness,
                config.http.whole_timeout,
                config.clock.clone(),
                config.host_table,
            )),
            own_user_agent: config.http.own_user_agent(),
            transport: Transport::new(config.http, &config.proxy_config.current())?,
            proxy_config: config.proxy_config,
            answers: Answers::default(),
            meter,
            clock: config.clock,
        })))
    }

    /// Shares with other processes the observations of hosts that were not shared at once.
    pub async fn exchange_hosts(&self) {
        self.0.host_limits.exchange_all().await;
    }

    /// The limits of hosts, for requests that are of no session.
    pub fn host_limits(&self) -> Arc<HostRateLimits> {
        Arc::clone(&self.0.host_limits)
    }

    /// Reads the shared state of a host again, if this process knows the host.
    pub async fn reread_host(&self, host: &str) {
        self.0.host_limits.reread(host).await;
    }

    /// A session for one task. It asks for a proxy when it first sends.
    pub fn open(&self, ask: SessionAsk) -> Session {
        let mut locale = self.0.states.of(ask.state.as_deref()).clone();
        if let Some(timezone) = &ask.timezone {
            locale.timezone.clone_from(timezone);
        }
        Session {
            allowed: self.0.allowed.with(ask.hosts.iter().cloned()),
            deps: Arc::clone(&self.0),
            ask,
            locale,
            rng: StdRng::from_rng(&mut rand::rng()),
            route: None,
            used_fingerprints: Vec::new(),
            extra_tries: 0,
            avoided: Vec::new(),
            trace: TraceHandle::default(),
            memory: MemoryPermit::default(),
        }
    }
}

impl Session {
    /// Sends `request` until `read` accepts an answer of status 2xx, in at most 1 +
    /// `proxies.rotations_per_request` tries.
    ///
    /// `read` runs on the CPU pool. It gets whole, decoded answers of any status that
    /// [`answer`](super::answer) does not judge by itself, and returns what they hold; its errors lead to
    /// further tries like all others. A proxy is blamed only for its own failures and for blocks.
    pub async fn send<T: Send + 'static>(
        &mut self,
        request: &Request,
        read: impl Fn(&Response) -> Result<T, FetchError> + Clone + Send + 'static,
    ) -> Result<(Response, T), FetchError> {
        self.check(request)?;
        self.check_robots(request).await?;
        let deps = Arc::clone(&self.deps);
        let (trace, memory) = (self.trace.clone(), self.memory.clone());
        let exchange = Exchange {
            deps: &deps,
            trace: &trace,
            request,
            memory: &memory,
            store: self.ask.store,
            is_best_effort: self.ask.is_best_effort,
        };
        let mut tries = Tries::of(request, self.ask.is_best_effort);
        loop {
            // no proxy is taken for a host that may not be asked
            deps.host_limits.check(request.host()).await?;
            let mut route = self.usable_route(request, &tries).await?;
            // a proxy before a permit: a session that held a permit while it waited for a proxy would keep it
            // from sessions that have one
            let permit = match deps.host_limits.permit(request.host()).await {
                Ok(permit) => permit,
                Err(error) => {
                    self.route = Some(route);
                    return Err(error);
                }
            };
            // its proxy may have been benched or switched off since
            if !route.is_usable() {
                continue;
            }
            let failure = match route.attempt(&exchange, permit, read.clone()).await {
                Ok(answer) => {
                    self.route = Some(route);
                    return Ok(answer);
                }
                Err(failure) => failure,
            };
            tries.note(&failure, deps.clock.instant());
            match self.next_step(&failure, &tries) {
                Step::GiveUp => {
                    self.route = failure.keeps_route().then_some(route);
                    if !failure.is_of_host() {
                        return Err(tries.verdict(&deps, failure.error));
                    }
                    // where the host refuses all of us, or fails all, the task waits, and has not failed
                    deps.host_limits.check(request.host()).await?;
                    return Err(deps.host_limits.since_when(request.host(), tries.verdict(&deps, failure.error)));
                }
                Step::Rotate => tries.leave(&route, &failure),
                Step::Wait { pause, new_route: true } => {
                    tries.leave(&route, &failure);
                    drop(route);
                    tokio::time::sleep(pause).await;
                }
                Step::Wait { pause, new_route: false } => {
                    self.route = Some(route);
                    tokio::time::sleep(pause).await;
                }
            }
            tries.made += 1;
            self.extra_tries += 1;
        }
    }

    /// Counts its further requests for this store.
    pub fn count_for(&mut self, store: StoreId) {
        self.ask.store = Some(store);
    }

    /// Chooses these proxies only where no other is available.
    pub fn avoid(&mut self, proxies: &[ProxyId]) {
        self.avoided.extend_from_slice(proxies);
    }

    /// Goes on through another proxy, as another browser, without blaming the present one.
    pub fn leave_proxy(&mut self) {
        let left = self.route.take().map(|route| route.proxy());
        self.avoided.extend(left);
    }

    /// The permit by which this session's answers are held; a caller that keeps answers longer keeps a clone
    /// of it.
    pub fn memory(&self) -> MemoryPermit {
        self.memory.clone()
    }

    /// Takes the permit to keep answers that are large together.
    pub fn hold_large(&self, host: &str) -> Result<(), FetchError> {
        transport::hold_large(&self.memory, host)
    }

    /// The human pause before the next page of the same menu.
    pub async fn pause_between_pages(&mut self) {
        tokio::time::sleep(self.deps.host_limits.page_pause(self.rng.random())).await;
    }

    /// A live view of the proxies, fingerprints and counts of this session.
    pub fn trace(&self) -> TraceHandle {
        self.trace.clone()
    }

    /// The store's timezone, otherwise its state's.
    pub fn timezone(&self) -> &str {
        &self.locale.timezone
    }

    /// Conditions for sending anything: the host is on the list, and the browser that this session claims to be would
    /// send no preflight before this request, since none is ever sent.
    fn check(&self, request: &Request) -> Result<(), FetchError> {
        self.allowed.check(&request.url)?;
        if self.ask.identity == IdentityKind::Browser && request.needs_preflight() {
            let reason = "its page is of another origin, and a browser would send a preflight first".to_owned();
            return Err(FetchError::NotAllowed { what: request.host().to_owned(), reason });
        }
        Ok(())
    }

    /// The present route where it still serves, otherwise a new one.
    async fn usable_route(&mut self, request: &Request, tries: &Tries) -> Result<Route, FetchError> {
        match self.route.take().filter(Route::is_usable) {
            Some(route) => Ok(route),
            None => self.open_route(request, tries).await,
        }
    }

    fn rotation_limits(&self) -> RotationLimits {
        let settings::Proxies { rotations_per_request, rotations_per_task, .. } = self.deps.proxy_config.current();
        RotationLimits { per_request: rotations_per_request, per_task: rotations_per_task }
    }

    /// A new proxy, a new identity, an empty jar. When no proxy comes free for a further try, the last one's
    /// failure counts.
    async fn open_route(&mut self, request: &Request, tries: &Tries) -> Result<Route, FetchError> {
        let ask = ProxyAsk {
            host: request.host().to_owned(),
            state: self.ask.state.clone(),
            timezone: Some(self.locale.timezone.clone()),
            avoid: self.avoided.iter().chain(&tries.avoid).copied().collect(),
            is_best_effort: self.ask.is_best_effort,
        };
        let lease = self.deps.proxies.lease(ask).await.map_err(|error| tries.verdict(&self.deps, error))?;
        let identity = self.next_identity();
        self.trace.opened(lease.proxy.id, identity.id());
        Ok(Route::new(lease, identity, self.deps.transport.tls_of_a_route()))
    }

    /// A browser that this session has not been, while one is left, or drover itself.
    fn next_identity(&mut self) -> Identity {
        if self.ask.identity == IdentityKind::Own {
            return Identity::own(&self.deps.own_user_agent, &self.locale);
        }
        let fingerprint = self.deps.identities.draw(&mut self.rng, &self.used_fingerprints);
        self.used_fingerprints.push(fingerprint.id.clone());
        Identity::browser(fingerprint, &self.locale)
    }

    fn next_step(&mut self, failure: &Failure, tries: &Tries) -> Step {
        let spent = ExtraTries { request: tries.made, task: self.extra_tries };
        let jitter = self.rng.random();
        rotation::next(
            &failure.error.request_disposition(),
            failure.needs_other_proxy,
            spent,
            self.rotation_limits(),
            jitter,
        )
    }
}

/// Tries of one request.
struct Tries {
    host: String,
    made: u32,
    avoid: Vec<ProxyId>,
    first_suspicion: Option<Instant>,
    /// Whether the host answered one of them, whatever it said.
    answered: bool,
    is_best_effort: bool,
    last: Option<Failure>,
}

impl Tries {
    fn of(request: &Request, is_best_effort: bool) -> Self {
        Tries {
            host: request.host().to_owned(),
            made: 0,
            avoid: Vec::new(),
            first_suspicion: None,
            answered: false,
            is_best_effort,
            last: None,
        }
    }

    fn note(&mut self, failure: &Failure, now: Instant) {
        self.answered |= failure.is_answer();
        if failure.is_suspicion() {
            self.first_suspicion.get_or_insert(now);
        }
        self.last = Some(failure.clone());
    }

    fn leave(&mut self, route: &Route, failure: &Failure) {
        events::rotated(&self.host, failure.is_block(), &failure.error);
        self.avoid.push(route.proxy());
    }

    /// The error for the caller: of the last try, or `otherwise` before the first.
    fn verdict(&self, deps: &SessionDeps, otherwise: FetchError) -> FetchError {
        match (&self.last, self.first_suspicion) {
            (Some(last), Some(since)) if last.is_suspicion() && !self.answered => {
                let suspicion = Suspicion { first: since, is_best_effort: self.is_best_effort };
                deps.judge_suspicion(&self.host, &suspicion, last.error.clone())
            }
            (Some(last), _) => last.error.clone(),
            (None, _) => otherwise,
        }
    }
}
