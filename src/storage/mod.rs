//! Files under the storage root: their layout (pure), and payload files.
//!
//! In: bytes, a payload's head, and the name of the database that owns the files. Out: paths relative to the root. It must not
//! know platforms, tasks or the database.

mod data;
mod diff;
mod document;
mod durable;
pub mod error;
pub mod layout;
mod owner;
pub mod payloads;
mod remove;
mod sweep;

pub use data::{Around, PayloadData, PayloadForm};
pub use error::StorageError;
pub use owner::Ownership;
pub use payloads::{PageBytes, PayloadContent, PayloadFile, PayloadHead, Payloads, StoredMenu};
pub use sweep::SweepReport;
