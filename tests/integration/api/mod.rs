//! The HTTP API through a real socket, on a real database; and the commands that show the same.

mod commands;
mod house_rules;
mod probes;
pub mod server;
mod tasks;
