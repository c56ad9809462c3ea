//! The tree of actors.

pub mod proxy_pool;
