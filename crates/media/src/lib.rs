//! Runs external download tools in a cage and reads what they print.
//!
//! In: addresses, credentials, a directory to work in. Out: what a tool found and downloaded, how it ended, and whether a retry can
//! help. It must not know the queue, the database or the platforms of menus.

pub mod clients;
pub mod tool;
