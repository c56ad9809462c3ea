//! A simulated world for drover: a fake of each menu platform, forward proxies to reach them by, fault switches, and an oracle.
//!
//! Everything listens on 127.0.0.1 and runs on a thread of its own, so that the caller needs no runtime. A
//! store's menu depends on (seed, store, crawl number) only, never on the clock or on the order of requests.
//! It must not know drover, but the list of its platforms: each one's part is in its folder, `src/platforms/*/sim`.
//! [`media`] is a world of its own: a site with accounts, feeds, forums and files.
//!
//! ```no_run
//! # async fn example() -> anyhow::Result<()> {
//! let sim = sim::Simulator::start(sim::Settings { stores: 3, ..Default::default() })?;
//! let fault =
//! sim::Fault::new(sim::FaultKind::EmptyPage).at_store(&sim.stores()[0].platform_dispensary_id).on_page(0).times(1);
//! sim.add_fault(fault);
//! // … point a crawler at sim.base_url() through sim.proxies() …
//! sim.until(std::time::Duration::from_secs(5), |counts| counts.faults == 1).await?;
//! let truth = sim.oracle(1);
//! # Ok(()) }
//! ```

mod settings;

mod body;
mod brand;
mod captured;
mod catalogue;
mod category;
mod deal;
mod draw;
mod menu;
mod money;
mod odd;
mod picture;
mod places;
mod potency;
mod presence;
mod product;
mod size;
mod words;

mod coding_fault;
mod counters;
mod encoding;
mod flood;
mod next_faults;
mod origin;
mod page_cache;
mod pictures;
mod platform;
mod proxy;
mod question;
mod refusal;
mod reply;
mod transmission;
mod vanishing;
mod world;

mod oracle;
mod simulator;

pub mod market;
pub mod media;

/// Each platform's part, from its folder.
#[path = "../../src/platforms"]
pub mod platforms {
    macro_rules! folders {
        ($($variant:ident = $folder:ident,)+) => {
            $(pub mod $folder {
                mod sim;
                pub use sim::*;
            })+
        };
    }

    domain::for_each_platform!(folders);
}

pub use catalogue::StoreSeed;
pub use coding_fault::CodingFault;
pub use counters::{Counts, ProxyCounts};
pub use encoding::Coding;
pub use flood::{Flood, FloodOf};
pub use oracle::changes::{OracleChange, OracleSide};
pub use oracle::unit_prices::OracleUnitPrices;
pub use oracle::{OracleBrand, OraclePotency, OracleProduct, OracleStore, OracleVariant};
pub use pictures::{OraclePicture, Photo, PictureAnswer, PictureKind};
pub use platform::PlatformSettings;
pub use platforms::dutchie::{Fault, FaultId, FaultKind, Operation, history};
pub use proxy::{ProxyAddress, ProxyFault, ProxyProtocol};
pub use refusal::Refusal;
pub use settings::{Goods, Robots, Settings};
pub use simulator::Simulator;
pub use transmission::Transmission;
