//! One function per domain event: a log line and its metric. Callers name the event; its form is decided
//! here.
//!
//! The message texts of workers and tasks are read by people's scripts: they stay as they are. Callers name
//! `events::…`, in whichever file of the catalogue it is.

mod data;
mod fetch;
mod http;
mod images;
mod quality;
mod queue;
mod runs;
mod workers;

pub use data::*;
pub use fetch::*;
pub use http::*;
pub use images::*;
pub use quality::*;
pub use queue::*;
pub use runs::*;
pub use workers::*;
