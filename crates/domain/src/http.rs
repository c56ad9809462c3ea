//! Rules of HTTP and of the hosts behind it, without a connection.

pub mod content_coding;
pub mod host_name;
pub mod location;
pub mod public_host;
pub mod robots;
