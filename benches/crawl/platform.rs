//! The platform whose menus are crawled: its simulated stores, a right crawler's rows of them, and drover's settings.

use domain::store::Platform;
use sim::{OracleStore, Simulator, StoreSeed};

pub fn stores(platform: Platform, sim: &Simulator) -> Vec<StoreSeed> {
    match platform {
        Platform::Jane => sim.jane_stores(),
        Platform::Weedmaps => sim.weedmaps_stores(),
        Platform::Leafly => sim.leafly_stores(),
        _ => sim.stores().to_vec(),
    }
}

pub fn oracle(platform: Platform, sim: &Simulator) -> Vec<OracleStore> {
    match platform {
        Platform::Jane => sim.jane_oracle(sim.crawl()),
        Platform::Weedmaps => sim.weedmaps_oracle(sim.crawl()),
        Platform::Leafly => sim.leafly_oracle(sim.crawl()),
        _ => sim.oracle(sim.crawl()),
    }
}

/// Variables by which drover finds the simulated platform at this address.
pub fn settings(platform: Platform, base_url: &str) -> Vec<(String, String)> {
    let of = |name: &str| format!("DROVER__PLATFORM__{}__{name}", platform.name().to_ascii_uppercase());
    let base_url = (of("BASE_URL"), base_url.to_owned());
    match platform {
        Platform::Jane => vec![base_url, (of("KEY"), sim::JANE_KEY.to_owned())],
        Platform::Weedmaps => vec![
            base_url,
            (of("ENABLED"), "true".to_owned()),
            ("DROVER__HTTP__OWN_CONTACT".to_owned(), "https://copperfern.example/crawler".to_owned()),
        ],
        _ => vec![base_url],
    }
}
