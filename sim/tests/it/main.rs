//! The simulator as its users meet it: over sockets, through its proxies.

#![allow(clippy::unwrap_used, clippy::panic)]

mod support;

mod faults;
mod media;
mod menus;
mod oracle;
mod pictures;
mod proxies;
mod requests;
