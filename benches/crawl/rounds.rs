//! Rounds: every peer's crawls of the same menus, one after the other, each from a fresh database. In: the
//! measurements to make. Out: a [`Figure`] for each crawl, or the error of a crawl that was wrong.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use benches::processes;
use serde::Serialize;
use tempfile::TempDir;

use crate::drover::Options;
use crate::peer::{Crawler, Peer};
use crate::server::Server;
use crate::stand::{Menus, Stand};
use crate::sums::{self, SumsByStore};
use crate::{Args, Run, followed::Followed, statements};

const LATENCY: Duration = Duration::from_millis(50);
/// Share of the products with other prices in the run `changed`.
const CHANGED_PERCENT: u64 = 10;

/// Measurements of one crawl.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    pub run: Run,
    pub peer: Peer,
    pub round: usize,
    pub products: u64,
    pub seconds: f64,
    /// Seconds of the peer's processes.
    pub cpu: f64,
    pub postgres_cpu: f64,
    pub stand_cpu: f64,
    pub other_cpu: f64,
    pub wal_bytes: i64,
    pub peak_rss: u64,
}

/// Crawls of the same menus, in this order, into one database.
struct Workload {
    menus: Menus,
    runs: Vec<Run>,
}

struct Bench<'a> {
    server: &'a Server,
    options: Options,
    shows_statements: bool,
    stand: Stand,
    /// Directory of all rounds: a file system may be slow to make files where others were removed a moment
    /// ago.
    dir: TempDir,
    /// Expected sums of the tables: now, and with other prices.
    expected: SumsByStore,
    repriced: SumsByStore,
}

pub async fn run(args: &Args, peers: &[Peer], server: &Server) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for workload in workloads(args) {
        let mut bench = Bench::prepare(args, peers, server, &workload).await?;
        for round in 0..args.rounds {
            // each peer is the first as often as the others
            for at in 0..peers.len() {
                let peer = peers[(at + round) % peers.len()];
                if workload.runs == [Run::Refused] && peer != Peer::Drover {
                    continue;
                }
                let crawled = bench.round(peer, round, &workload.runs).await;
                figures.extend(crawled.with_context(|| format!("{}, round {}", peer.name(), round + 1))?);
            }
        }
    }
    Ok(figures)
}

fn workloads(args: &Args) -> Vec<Workload> {
    let menus =
        Menus { platform: args.platform, stores: args.stores, products: args.products, latency: Duration::ZERO };
    let chosen = |run: &Run| args.runs.contains(run);
    let mut again: Vec<Run> = [Run::Unchanged, Run::Changed].into_iter().filter(chosen).collect();
    if chosen(&Run::First) || !again.is_empty() {
        again.insert(0, Run::First);
    }
    let alone = |run, menus| Workload { menus, runs: Some(run).filter(chosen).into_iter().collect() };
    let all = [
        Workload { menus, runs: again },
        alone(Run::Latency, Menus { latency: LATENCY, ..menus }),
        alone(Run::Small, Menus { stores: args.stores * 10, products: args.products / 10, ..menus }),
        alone(Run::Scale, Menus { stores: args.stores * 10, ..menus }),
        alone(Run::Refused, menus),
    ];
    all.into_iter().filter(|workload| !workload.runs.is_empty()).collect()
}

impl<'a> Bench<'a> {
    async fn prepare(args: &Args, peers: &[Peer], server: &'a Server, workload: &Workload) -> Result<Bench<'a>> {
        let mut stand = Stand::start(workload.menus).await?;
        for peer in peers {
            peer.prepare(server, &stand.site).await?;
        }
        let changes = workload.runs.contains(&Run::Changed);
        let repriced = if changes { stand.serve(CHANGED_PERCENT).await? } else { SumsByStore::new() };
        let expected = stand.serve(0).await?;
        let downloads_images = workload.runs == [Run::Refused];
        let options = Options {
            slots: args.slots,
            shows_heartbeats: args.heartbeats,
            follows_changes: args.changes,
            downloads_images,
        };
        let dir = tempfile::Builder::new().prefix("drover-crawl-").tempdir()?;
        Ok(Bench { server, options, shows_statements: args.statements, stand, dir, expected, repriced })
    }

    async fn round(&mut self, peer: Peer, round: usize, runs: &[Run]) -> Result<Vec<Figure>> {
        let dir = self.dir.path().join(format!("{}-{round}", peer.name()));
        std::fs::create_dir(&dir)?;
        self.server.reset(&peer.database(), &peer.template()).await?;
        let mut figures = Vec::new();
        for (nth, run) in runs.iter().enumerate() {
            self.stand.serve(if *run == Run::Changed { CHANGED_PERCENT } else { 0 }).await?;
            let figure = self.crawl(peer, *run, nth, &dir).await;
            figures.push(Figure { round, ..figure.with_context(|| format!("{run:?}"))? });
        }
        Ok(figures)
    }

    async fn crawl(&mut self, peer: Peer, run: Run, nth: usize, dir: &Path) -> Result<Figure> {
        let mut crawler = peer.start(self.server, &self.stand.site, dir, self.options).await?;
        let shows_statements = self.shows_statements && peer == Peer::Drover;
        if shows_statements {
            statements::forget(self.server.admin()).await?;
        }
        let followed = self.follow(peer, dir).await?;
        let before = self.usage(&crawler).await?;
        let begun = Instant::now();
        crawler.crawl(nth).await?;
        let seconds = begun.elapsed().as_secs_f64();
        let used = self.usage(&crawler).await?.minus(&before);
        if shows_statements {
            statements::print(self.server.admin(), &peer.database(), self.stand.site.stores.len()).await?;
        }
        if let Some(followed) = followed {
            followed.print().await?;
        }
        let products = self.verify(&crawler, run, nth).await?;
        let peak_rss = processes::family_peak_rss(crawler.pid())?;
        crawler.stop().await?;
        Ok(Figure {
            run,
            peer,
            round: 0,
            products,
            seconds,
            cpu: used.crawler,
            postgres_cpu: used.postgres,
            stand_cpu: used.stand,
            other_cpu: used.machine - used.crawler - used.postgres - used.stand,
            wal_bytes: used.wal_bytes,
            peak_rss,
        })
    }

    async fn follow(&self, peer: Peer, dir: &Path) -> Result<Option<Followed>> {
        if peer != Peer::Drover || !self.options.follows_changes {
            return Ok(None);
        }
        Ok(Some(Followed::start(&self.server.url(&peer.database()), dir).await?))
    }

    /// The number of products, of a right crawl.
    async fn verify(&mut self, crawler: &Crawler, run: Run, nth: usize) -> Result<u64> {
        let (rows, snapshots) = crawler.rows().await?;
        let expected = if run == Run::Changed { &self.repriced } else { &self.expected };
        sums::require_equal(&rows, expected)?;
        let products = sums::products(expected);
        let wanted = products * (nth as u64 + 1);
        anyhow::ensure!(snapshots.unsigned_abs() == wanted, "{snapshots} snapshots instead of {wanted}");
        let requests = self.stand.requests().await?;
        anyhow::ensure!(requests.direct == 0, "{} requests came past the proxies", requests.direct);
        Ok(products)
    }

    async fn usage(&self, crawler: &Crawler) -> Result<Usage> {
        Ok(Usage {
            crawler: processes::family_cpu(crawler.pid())?,
            postgres: self.server.cpu()?,
            stand: processes::cpu(self.stand.pid())?,
            machine: processes::machine_cpu()?,
            wal_bytes: self.server.wal_bytes().await?,
        })
    }
}

/// CPU seconds and bytes up to now.
struct Usage {
    crawler: f64,
    postgres: f64,
    stand: f64,
    machine: f64,
    wal_bytes: i64,
}

impl Usage {
    fn minus(&self, before: &Usage) -> Usage {
        Usage {
            crawler: self.crawler - before.crawler,
            postgres: self.postgres - before.postgres,
            stand: self.stand - before.stand,
            machine: self.machine - before.machine,
            wal_bytes: self.wal_bytes - before.wal_bytes,
        }
    }
}
