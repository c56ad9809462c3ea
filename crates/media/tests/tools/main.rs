//! Tools in their cage: small shell scripts that behave badly, and the real ones against a small site.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod bench;
mod directories;
mod ends;
mod gallery_dl;
mod helper;
mod input;
mod limits;
mod output;
mod real;
mod simulated;
mod site;
#[path = "../../../../tests/testkit/wait.rs"]
mod wait;
mod yt_dlp;
