//! Media jobs against the simulated media site: their rows and files are those of its oracle.

mod downloads;
pub mod harness;
mod kill;
mod people;
mod records;
mod searches;
mod videos;
