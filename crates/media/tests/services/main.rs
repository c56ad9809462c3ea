//! The readers and the downloader against the simulated media site: they get what its oracle says.

#![allow(clippy::unwrap_used, clippy::panic)]

mod ask;

mod downloads;
mod forums;
mod lists;
