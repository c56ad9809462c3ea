//! Runs external download tools in a cage and reads what they print.
//!
//! In: addresses, credentials, a directory to work in. Out: what a tool found and downloaded, how it ended,
//! and whether a retry can help. It must not know the queue, the database or the platforms of menus.

pub mod gallery_dl;
mod input;
mod printed;
pub mod tool;
mod verdict;
pub mod yt_dlp;

pub use input::{InputError, Login};
pub use printed::{LineError, MAX_METADATA_BYTES};
pub use verdict::Verdict;
