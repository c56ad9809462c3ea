//! The HTTP API through a real socket, on a real database.

mod house_rules;
mod probes;
mod server;
mod tasks;
