//! The schema and its server: migrations, the indexes and partitions made while the queue works, and facts about both.

pub mod indexes;
pub mod installation;
pub mod legacy;
pub mod migrate;
pub mod partitions;
pub mod reader;
pub mod server_info;
pub(crate) mod task_kinds;
