//! Media jobs against the simulated media site: their rows and files are those of its oracle.

pub mod accounts;
mod bucket;
mod canaries;
mod cancel;
mod creators;
mod downloads;
mod forums;
mod full_disk;
pub mod harness;
mod hosts;
mod kill;
mod people;
mod pictures;
mod processes;
mod progress;
mod proxies;
mod records;
mod schedules;
mod scrape_kill;
mod searches;
mod tools;
mod videos;
mod waits;
