//! The HTTP API through a real socket, on a real database; and the commands that show the same.

mod access;
mod changes;
mod commands;
mod house_rules;
mod openapi;
mod probes;
pub mod server;
mod stream;
mod tasks;
