//! Handlers with a real database: the writes of each role.

mod captured_page;
mod changes;
mod corrections;
mod crawl;
mod dutchie_plus;
pub mod harness;
mod histories;
mod hostile_http;
mod hostile_menus;
mod housekeeping;
mod jane;
mod leafly;
mod lost_files;
mod made_menus;
mod plans;
mod platform_stores;
mod product_fields;
mod refresh;
mod retention;
mod simulated;
mod specials;
mod suspicious;
mod switches;
pub mod test_sessions;
pub mod test_store;
mod unit_prices;
mod weedmaps;
