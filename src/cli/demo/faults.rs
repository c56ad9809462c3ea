//! The faults of a continuous demo, on purpose: proxies that are dead or late, stores in trouble, and tasks
//! that fail once.
//!
//! In: the simulator. Out: the stores to import beside the ordinary ones, and the faults, switched on and off
//! in time. It must not know how a crawl is made or compared.

use std::time::Duration;

use sim::{Fault, FaultId, FaultKind, ProxyFault, Simulator, StoreSeed};

use crate::simulated;
use domain::store::{NewStore, Platform, StoreId};

/// Stores that the simulator serves beside the ordinary ones.
pub const EXTRA_STORES: usize = 1;
/// The host of the store that is out of order at times: it has a hold of its own.
pub const UNSTEADY_HOST: &str = "unsteady.simulated.test";

/// Positions of proxies; the first two get blocked.
pub const DEAD_PROXY: usize = 5;
const LATE_PROXY: usize = 6;
const LATENESS: Duration = Duration::from_millis(1500);

/// One of this many stores fails once in each crawl.
const STORES_PER_FAILURE: usize = 12;

const UNTIL_FIRST_OUTAGE: Duration = Duration::from_secs(45);
const OUTAGE: Duration = Duration::from_secs(60);
const BETWEEN_OUTAGES: Duration = Duration::from_secs(240);
const RETRY_AFTER: Duration = Duration::from_secs(20);

/// The platform answers any unknown id with a menu without products.
const UNKNOWN_ID: &str = "000000000000000000000e0e";
pub const WRONG_SLUG: &str = "no-such-store";
pub const EMPTY_SHELF: &str = "Empty Shelf";

/// Faults that last for as long as the demo.
pub fn break_proxies(sim: &Simulator) {
    sim.set_proxy_fault(DEAD_PROXY, ProxyFault::Refuse);
    sim.set_proxy_fault(LATE_PROXY, ProxyFault::Late(LATENESS));
}

/// The stores in trouble, as an operator would have imported them.
pub fn stores(sim: &Simulator) -> Vec<NewStore> {
    let ordinary = NewStore {
        name: String::new(),
        platform: Platform::Dutchie,
        platform_dispensary_id: None,
        slug: None,
        menu_url: None,
        api_host: None,
        api_path: None,
        city: None,
        state: Some("MI".to_owned()),
        timezone: Some("America/Detroit".to_owned()),
        groups: Vec::new(),
    };
    let wrong_slug = NewStore {
        name: "Wrong Slug".to_owned(),
        slug: Some(WRONG_SLUG.to_owned()),
        menu_url: Some(format!("{}/dispensary/{WRONG_SLUG}", sim.base_url())),
        ..ordinary.clone()
    };
    let empty = NewStore {
        name: EMPTY_SHELF.to_owned(),
        platform_dispensary_id: Some(UNKNOWN_ID.to_owned()),
        slug: Some("empty-shelf".to_owned()),
        ..ordinary
    };
    let unsteady = unsteady(sim)
        .map(|seed| NewStore { api_host: Some(UNSTEADY_HOST.to_owned()), ..simulated::store(Platform::Dutchie, seed) });
    [wrong_slug, empty].into_iter().chain(unsteady).collect()
}

/// The store with an empty menu, of the ids of [`stores`] in their order.
pub fn empty(apart: &[StoreId]) -> &[StoreId] {
    apart.get(1..2).unwrap_or_default()
}

/// The store whose host is out of order at times; its products are not compared.
pub fn unsteady(sim: &Simulator) -> Option<&StoreSeed> {
    sim.stores().last()
}

/// Takes the unsteady store's host out of order, again and again, until it is dropped.
pub async fn outages(sim: &Simulator) -> std::convert::Infallible {
    let Some(store) = unsteady(sim) else { return std::future::pending().await };
    tokio::time::sleep(UNTIL_FIRST_OUTAGE).await;
    loop {
        let unavailable = FaultKind::Unavailable { retry_after: Some(RETRY_AFTER) };
        let outage = sim.add_fault(Fault::new(unavailable).at_store(&store.platform_dispensary_id));
        tokio::time::sleep(OUTAGE).await;
        sim.remove_fault(outage);
        tokio::time::sleep(BETWEEN_OUTAGES).await;
    }
}

/// Failures of one crawl, each of which a retry survives.
pub struct FailuresOnce(Vec<FaultId>);

impl FailuresOnce {
    /// Other stores in each crawl.
    pub fn begin(sim: &Simulator, crawl: u32) -> FailuresOnce {
        let ordinary = &sim.stores()[..sim.stores().len().saturating_sub(EXTRA_STORES)];
        let first = crawl as usize % STORES_PER_FAILURE.min(ordinary.len().max(1));
        let failing = ordinary.iter().skip(first).step_by(STORES_PER_FAILURE);
        let rejected = || Fault::new(FaultKind::GraphqlErrors { with_data: false });
        let fault = |store: &StoreSeed| sim.add_fault(rejected().at_store(&store.platform_dispensary_id).times(1));
        FailuresOnce(failing.map(fault).collect())
    }

    /// Removes the faults: the ones that met no request would add up.
    pub fn end(self, sim: &Simulator) {
        for fault in self.0 {
            sim.remove_fault(fault);
        }
    }
}
