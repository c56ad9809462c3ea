//! A simulated world for drover: a fake of the Dutchie API, of Jane, of Weedmaps and of Leafly, forward proxies to reach them by,
//! fault switches, and an oracle.
//!
//! Everything listens on 127.0.0.1 and runs on a thread of its own, so that the caller needs no runtime. A
//! store's menu depends on (seed, store, crawl number) only, never on the clock or on the order of requests.
//! It must not know drover. [`media`] is a world of its own: a site with accounts, feeds, forums and files.
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

mod wire;

mod answer;
mod coding_fault;
mod counters;
mod encoding;
mod faults;
mod flood;
mod hashes;
mod jane;
mod leafly;
mod next_faults;
mod origin;
mod page_cache;
mod pages;
mod pictures;
mod plus;
mod proxy;
mod question;
mod reply;
mod request;
mod selection;
mod transmission;
mod vanishing;
mod weedmaps;
mod world;

mod oracle;
mod simulator;

pub mod media;

pub use catalogue::StoreSeed;
pub use coding_fault::CodingFault;
pub use counters::{Counts, ProxyCounts};
pub use encoding::Coding;
pub use faults::{Fault, FaultId, FaultKind, Refusal};
pub use flood::{Flood, FloodOf};
pub use hashes::history;
pub use jane::JANE_KEY;
pub use leafly::state::LeaflyFault;
pub use oracle::changes::{OracleChange, OracleSide};
pub use oracle::unit_prices::OracleUnitPrices;
pub use oracle::{OracleBrand, OraclePotency, OracleProduct, OracleStore, OracleVariant};
pub use pictures::{OraclePicture, Photo, PictureAnswer, PictureKind};
pub use plus::PLUS_KEY;
pub use proxy::{ProxyAddress, ProxyFault, ProxyProtocol};
pub use request::Operation;
pub use settings::{Goods, Robots, Settings};
pub use simulator::Simulator;
pub use transmission::Transmission;
pub use weedmaps::state::WeedmapsFault;
