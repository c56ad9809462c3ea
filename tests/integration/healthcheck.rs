//! `drover healthcheck` and the end of a service behind a load balancer, seen on whole processes.

use std::net::SocketAddr;
use std::process::Output;

use nix::sys::signal::Signal;

use testkit::{Child, Farm, PATIENCE, until};

/// The answer of the service that listens for probes at `address`.
async fn healthcheck(farm: &Farm, address: SocketAddr, args: &[&str]) -> Output {
    let mut command = farm.drover(&["healthcheck"]);
    command.args(args).env("DROVER__PROBES__LISTEN", address.to_string());
    command.output().await.unwrap()
}

fn text(of: &[u8]) -> &str {
    std::str::from_utf8(of).unwrap().trim_end()
}

#[tokio::test]
async fn a_healthcheck_passes_as_long_as_its_service_works() {
    let farm = Farm::with_stores(1).await;
    let mut worker = Child::spawn(&mut farm.drover(&["worker"]));
    let address = worker.probes().await;
    until("the service is ready", PATIENCE, async || healthcheck(&farm, address, &[]).await.status.success()).await;
    let (ready, live) = (healthcheck(&farm, address, &[]).await, healthcheck(&farm, address, &["--live"]).await);
    assert_eq!(text(&ready.stdout), format!("http://{address}: ready"));
    assert_eq!(text(&live.stdout), format!("http://{address}: live"));
    let every = SocketAddr::new([0, 0, 0, 0].into(), address.port());
    assert!(healthcheck(&farm, every, &["--json"]).await.status.success(), "a listener on all addresses");

    worker.signal(Signal::SIGKILL);
    worker.ended(PATIENCE).await;
    let gone = healthcheck(&farm, address, &[]).await;
    assert_eq!(gone.status.code(), Some(1));
    assert!(text(&gone.stderr).contains(&format!("http://{address}: ")), "{}", text(&gone.stderr));
}

#[tokio::test]
async fn a_service_that_stops_is_not_ready_for_the_configured_delay_before_it_closes() {
    let farm = Farm::with_stores(1).await;
    farm.leaves_open_tasks("its schedules run");
    let mut api = Child::spawn(farm.drover(&["api"]).env("DROVER__PROBES__DRAIN_DELAY", "10m"));
    let address = api.probes().await;
    until("the service is ready", PATIENCE, async || healthcheck(&farm, address, &[]).await.status.success()).await;

    api.signal(Signal::SIGTERM);
    until("it is not ready", PATIENCE, async || {
        text(&healthcheck(&farm, address, &[]).await.stdout)
            == format!("http://{address}: not ready\n  actors: draining")
    })
    .await;
    assert!(healthcheck(&farm, address, &["--live"]).await.status.success());
    api.signal(Signal::SIGTERM);
    assert!(api.ended(PATIENCE).await.success(), "a second signal ends the delay");
}
