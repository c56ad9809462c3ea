//! Summary of a demo's crawl, for people and for programs.

use std::collections::BTreeMap;
use std::fmt;

use chrono::{DateTime, Utc};
use serde::Serialize;
use sim::Simulator;
use tokio::time::Instant;

use super::images::ImageReport;
use super::oracle::{self, OracleReport};
use super::platforms;
use db::demo::report::{CrawlProgress, FaultyStore};
use db::{Client, DbError, demo, proxies};
use domain::amounts::counted;
use domain::proxy::HealthCounts;
use domain::store::{Platform, StoreId};

#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Stores whose crawl is compared; `faults` has the others.
    pub stores: usize,
    pub stores_by_platform: BTreeMap<Platform, usize>,
    pub stores_crawled: i64,
    pub products: i64,
    pub snapshots: i64,
    pub payloads: i64,
    /// The lowest coverage of all stores, 0…1.
    pub coverage: f64,
    /// Requests that reached the simulator without a proxy.
    pub direct_requests: u64,
    pub blocks_survived: i64,
    pub proxies: HealthCounts,
    pub tasks: Tasks,
    pub oracle: OracleReport,
    /// Injected faults; None if the demo injects none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub faults: Option<FaultReport>,
    /// None when no images are downloaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub images: Option<ImageReport>,
    pub seconds: f64,
    pub products_per_second: f64,
    /// Whether an earlier process began the crawl: `seconds` then include the time that the demo was off.
    pub resumed: bool,
    pub database_url: Option<String>,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct Tasks {
    pub completed: i64,
    pub failed: i64,
    pub cancelled: i64,
}

#[derive(Clone, Debug, Serialize)]
pub struct FaultReport {
    pub stores: Vec<FaultyStore>,
    /// Runs of other stores that failed, and whose task succeeded later.
    pub survived: i64,
}

/// The crawl to summarise.
pub struct Subject<'a> {
    pub sim: &'a Simulator,
    pub stores: usize,
    /// Stores in trouble on purpose.
    pub apart: &'a [StoreId],
    pub crawled: (DateTime<Utc>, CrawlProgress),
    /// Time when this process began to crawl.
    pub began: Instant,
    pub database_url: Option<String>,
}

impl Summary {
    pub async fn of(client: &Client, subject: Subject<'_>) -> Result<Summary, DbError> {
        let Subject { sim, stores, apart, crawled: (since, progress), began, database_url } = subject;
        let totals = demo::report::totals(client, since, apart).await?;
        Ok(Summary {
            stores,
            stores_by_platform: platforms::counts(sim, stores).into_iter().collect(),
            stores_crawled: progress.stores_crawled,
            products: totals.products,
            snapshots: totals.snapshots,
            payloads: totals.payloads,
            coverage: totals.coverage,
            direct_requests: sim.counts().direct,
            blocks_survived: totals.blocks,
            proxies: proxies::count(client).await?,
            tasks: Tasks { completed: progress.completed, failed: progress.failed, cancelled: progress.cancelled },
            oracle: oracle::compare(client, sim, stores, since).await?,
            faults: FaultReport::of(client, since, apart).await?,
            images: None,
            seconds: (totals.seconds * 100.0).round() / 100.0,
            products_per_second: (totals.snapshots as f64 / totals.seconds.max(0.001)).round(),
            resumed: totals.seconds > began.elapsed().as_secs_f64(),
            database_url,
        })
    }

    /// Every way in which the crawl is not as simulated; empty if all is well.
    pub fn deviations(&self) -> Vec<String> {
        let Tasks { failed, cancelled, .. } = self.tasks;
        let image_differences = self.images.as_ref().map_or(0, |images| images.differences);
        let deviations = [
            (self.oracle.differences > 0).then(|| format!("differences from the oracle: {}", self.oracle.differences)),
            (image_differences > 0).then(|| format!("images that differ: {image_differences}")),
            (self.stores_crawled != self.stores as i64)
                .then(|| format!("stores crawled: {} instead of {}", self.stores_crawled, self.stores)),
            (self.direct_requests > 0).then(|| format!("requests without a proxy: {}", self.direct_requests)),
            (failed > 0).then(|| format!("tasks failed: {failed}")),
            (cancelled > 0).then(|| format!("tasks cancelled: {cancelled}")),
        ];
        deviations.into_iter().flatten().collect()
    }
}

impl FaultReport {
    async fn of(client: &Client, since: DateTime<Utc>, apart: &[StoreId]) -> Result<Option<FaultReport>, DbError> {
        if apart.is_empty() {
            return Ok(None);
        }
        let stores = demo::report::faulty(client, since, apart).await?;
        Ok(Some(FaultReport { stores, survived: demo::report::survived(client, since, apart).await? }))
    }
}

impl fmt::Display for FaultReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let store = |store: &FaultyStore| match store.failed {
            0 => format!("{} ({})", store.name, store.crawl_status),
            failed => format!("{} ({}, failed {failed})", store.name, store.crawl_status),
        };
        let stores: Vec<String> = self.stores.iter().map(store).collect();
        writeln!(f, "on purpose, and not counted above: {}", stores.join(", "))?;
        write!(
            f,
            "            {} of other stores failed once; tried again, each task succeeded",
            counted(self.survived, "run")
        )
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tasks { completed, failed, cancelled } = self.tasks;
        let platforms: Vec<String> =
            self.stores_by_platform.iter().map(|(platform, count)| format!("{platform} {count}")).collect();
        writeln!(
            f,
            "Stores      {} of {} crawled ({}), coverage at least {:.1} %",
            self.stores_crawled,
            self.stores,
            platforms.join(", "),
            self.coverage * 100.0
        )?;
        writeln!(
            f,
            "Products    {} in the table; snapshots {}, payloads {}",
            self.products, self.snapshots, self.payloads
        )?;
        writeln!(f, "Tasks       {completed} completed, {failed} failed, {cancelled} cancelled")?;
        writeln!(
            f,
            "Proxies     {}; blocked requests {}, requests without a proxy {}",
            self.proxies, self.blocks_survived, self.direct_requests
        )?;
        match self.oracle.equal {
            true => writeln!(
                f,
                "Oracle      equal: every product, and at Dutchie every price by unit and change, is as the simulator expects"
            )?,
            false => writeln!(f, "Oracle      differences: {}", self.oracle.differences)?,
        }
        for example in &self.oracle.examples {
            writeln!(f, "            {example}")?;
        }
        if let Some(faults) = &self.faults {
            writeln!(f, "Faults      {faults}")?;
        }
        if let Some(images) = &self.images {
            writeln!(f, "Images      {images}")?;
            for example in &images.examples {
                writeln!(f, "            {example}")?;
            }
        }
        match self.resumed {
            true => write!(f, "Time        {:.1} s since an earlier process began this crawl", self.seconds),
            false => {
                write!(f, "Time        {:.1} s, {:.0} products per second", self.seconds, self.products_per_second)
            }
        }
    }
}
