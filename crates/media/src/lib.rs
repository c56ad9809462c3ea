//! The world of media jobs: external download tools, run in a cage; the services that are asked; the own
//! downloader.
//!
//! In: addresses, credentials, a directory to work in. Out: what was found and downloaded, how it ended,
//! and whether a retry can help. It must not know the queue, the database or the platforms of menus.

pub mod clients;
pub mod content;
pub mod cookies;
pub mod download;
pub mod gallery_dl;
mod input;
mod json_text;
mod printed;
pub mod tool;
mod verdict;
pub mod yt_dlp;

pub use input::{InputError, Login};
pub use printed::{LineError, MAX_METADATA_BYTES};
pub use verdict::Verdict;
