//! The shapes of the API: requests, answers, filters and pages, one file a resource.
//!
//! The server, the database and the command line read and write them. A request has every check of itself
//! that needs no database. It must not know HTTP, SQL or the clock.

pub mod age_sort;
pub mod analytics;
pub mod audit;
pub mod changes;
pub mod charts;
pub mod checks;
pub mod cursor;
pub mod exports;
pub mod generation;
pub mod geo;
pub mod groups;
pub mod health;
pub mod hosts;
pub mod images;
pub mod job_imports;
pub mod jobs;
pub mod legacy;
pub mod limit;
pub mod media;
pub mod notifications;
pub mod operations;
pub mod overview;
pub mod pauses;
pub mod payloads;
pub mod position;
pub mod prices;
pub mod problem;
pub mod products;
pub mod proxies;
pub mod quality;
pub mod retailers;
pub mod retention;
pub mod schedules;
pub mod sessions;
pub mod store_bulk;
pub mod stores;
pub mod task_changes;
pub mod task_requests;
pub mod tasks;
pub mod tokens;
pub mod verdict;
pub mod visitors;
pub mod workers;
