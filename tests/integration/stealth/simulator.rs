//! Sessions against the simulated world: its proxies and their faults, as the whole program meets them.

use std::sync::Arc;
use std::time::Duration;

use drover::stealth::{ProxyOutcome, Request, RequestKind, Session, SessionAsk};
use rstest::rstest;
use sim::{ProxyFault, Refusal, Settings, Simulator};
use tokio::net::TcpStream;

use super::support::{Pool, Setup, content, request};
use crate::handlers::test_sessions;
use testkit::until;

struct World {
    sim: Simulator,
    pool: Arc<Pool>,
    request: Request,
}

impl World {
    /// A world with as many proxies as are in `chosen`, which are the ones that a session may use, in that
    /// order.
    fn with_proxies(count: usize, chosen: &[usize]) -> Self {
        let settings = Settings { stores: 1, proxies: count, blocked_proxies: 0, ..Settings::default() };
        let sim = Simulator::start(settings).unwrap();
        let rows = test_sessions::proxies(&sim);
        let pool = Pool::new(chosen.iter().map(|&nth| rows[nth].clone()).collect());
        let mut request = request(RequestKind::Fetch, "http");
        let variables = r#"{"dispensaryFilter":{"cNameOrID":"x"}}"#;
        let hash = sim::history(sim::Operation::ConsumerDispensaries)[0];
        let extensions = format!(r#"{{"persistedQuery":{{"version":1,"sha256Hash":"{hash}"}}}}"#);
        request.url = format!("{}/api-3/graphql", sim.base_url()).parse().unwrap();
        request.url.query_pairs_mut().append_pair("operationName", "ConsumerDispensaries");
        request.url.query_pairs_mut().append_pair("variables", variables).append_pair("extensions", &extensions);
        request.referer = sim.base_url().parse().unwrap();
        World { sim, pool, request }
    }

    /// A listener closes in its own time: a refusing one is waited for.
    async fn spoil(&self, nth: usize, fault: ProxyFault) {
        self.sim.set_proxy_fault(nth, fault);
        let port = self.sim.proxies()[nth].port;
        if fault == ProxyFault::Refuse {
            let refuses = async || TcpStream::connect(("127.0.0.1", port)).await.is_err();
            until("the port is closed", Duration::from_secs(60), refuses).await;
        }
    }

    fn session(&self) -> Session {
        self.setup().sessions(&self.pool).open(SessionAsk::default())
    }

    /// Session for a proxy that hangs: the test waits these times out, and the good proxy answers within them.
    fn impatient_session(&self) -> Session {
        let mut setup = self.setup();
        setup.http.first_byte_timeout = Duration::from_secs(1);
        setup.http.connect_timeout = Duration::from_secs(1);
        setup.sessions(&self.pool).open(SessionAsk::default())
    }

    fn setup(&self) -> Setup {
        Setup { hosts: vec![self.request.host().to_owned()], ..Setup::default() }
    }
}

fn position(sim: &Simulator, protocol: sim::ProxyProtocol) -> usize {
    sim.proxies().iter().position(|proxy| proxy.protocol == protocol).unwrap()
}

#[tokio::test]
async fn every_simulated_proxy_leads_to_the_origin_and_nothing_goes_directly() {
    for nth in 0..8 {
        let world = World::with_proxies(8, &[nth]);
        let mut session = world.session();
        for _ in 0..3 {
            session.send(&world.request, &content).await.unwrap();
        }
        let counts = world.sim.counts();
        assert_eq!((counts.requests, counts.direct, counts.proxies[nth].requests), (3, 0, 3), "proxy {nth}");
    }
}

#[rstest]
#[case::refuse(ProxyFault::Refuse, &["failed at once"])]
#[case::hang(ProxyFault::Hang, &["suspicion", "failed"])]
#[case::forbidden(ProxyFault::Blocked(Refusal::Forbidden), &["blocked"])]
#[case::challenged(ProxyFault::Blocked(Refusal::ChallengeForbidden), &["blocked"])]
#[case::challenged_with_200(ProxyFault::Blocked(Refusal::ChallengeOk), &["blocked"])]
#[case::auth_required(ProxyFault::AuthRequired, &["failed at once"])]
#[case::captive_portal(ProxyFault::Portal, &["blocked", "suspicion"])]
#[case::bad_gateway(ProxyFault::BadGateway, &["suspicion", "failed"])]
#[tokio::test]
async fn a_faulty_proxy_is_told_apart_and_survived(
    #[case] fault: ProxyFault,
    #[case] heard: &[&str],
    #[values(sim::ProxyProtocol::Http, sim::ProxyProtocol::Socks5)] protocol: sim::ProxyProtocol,
) {
    let layout = World::with_proxies(8, &[]);
    let bad = position(&layout.sim, protocol);
    let good = (bad + 1) % 8;
    let world = World::with_proxies(8, &[bad, good]);
    world.spoil(bad, fault).await;
    let mut session = if fault == ProxyFault::Hang { world.impatient_session() } else { world.session() };
    session.send(&world.request, &content).await.unwrap();

    let reports = world.pool.reports();
    assert!(heard.contains(&kind(&reports[0].1)), "{reports:?}");
    assert!(matches!(reports[1], (id, ProxyOutcome::Success { .. }) if id == good as i64 + 1), "{reports:?}");
    assert_eq!(world.sim.counts().direct, 0);
}

fn kind(outcome: &ProxyOutcome) -> &'static str {
    match outcome {
        ProxyOutcome::Success { .. } => "success",
        ProxyOutcome::Blocked { .. } => "blocked",
        ProxyOutcome::Failed { at_once: true, .. } => "failed at once",
        ProxyOutcome::Failed { at_once: false, .. } => "failed",
        ProxyOutcome::Suspicion { .. } => "suspicion",
        ProxyOutcome::Answered { .. } => "answered",
        ProxyOutcome::Neutral => "neutral",
    }
}
