//! Connections to the database: how they are made, pooled, used and watched. [`client`] holds the calls that all
//! statements go through, each with a deadline. It must not know a table.

pub(crate) mod client;
pub(crate) mod copy;
pub mod listen;
pub(crate) mod parameter_types;
pub(crate) mod pipeline;
pub(crate) mod pools;
pub mod server;
