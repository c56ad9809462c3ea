//! Notifications of ended jobs and of the crawl: which rows there are, how they are sent, and how people see them.

mod changes;
mod crawl_events;
mod deliveries;
mod kill;
mod odd_receivers;
mod people;
mod rows;
pub mod tools;
