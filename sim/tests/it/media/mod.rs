//! The media site as its users meet it: over sockets, against its oracle.

mod client;

mod accounts;
mod faults;
mod files;
mod forums;
mod messages;
mod seen;
mod services;
