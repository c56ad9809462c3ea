//! Media jobs against the simulated media site: their rows and files are those of its oracle.

mod downloads;
mod forums;
pub mod harness;
mod kill;
mod people;
mod records;
mod schedules;
mod searches;
mod videos;
