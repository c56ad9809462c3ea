//! Media jobs against the simulated media site: their rows and files are those of its oracle.

pub mod accounts;
mod bad_input;
mod canaries;
mod cancel;
mod creators;
mod downloads;
mod foreign_credentials;
mod forums;
pub mod harness;
mod hosts;
mod kill;
mod people;
mod pictures;
mod processes;
mod proxies;
mod records;
mod redirects;
mod schedules;
mod scrape_kill;
mod searches;
mod secret_jobs;
mod tools;
mod video_tools;
pub mod videos;
mod waits;
