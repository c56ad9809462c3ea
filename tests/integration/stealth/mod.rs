//! How drover looks from outside, seen by real origins and real forward proxies on loopback.

pub mod support;

mod answers;
mod codings;
mod goldens;
mod https_proxies;
mod identities;
mod keys;
mod lenient;
mod memory;
mod own_identity;
mod proxies;
mod rotation;
mod simulator;
