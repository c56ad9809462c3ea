//! Files under the storage root: where they lie (pure), and payloads in them.
//!
//! It must not know platforms, tasks or the database: bytes, the few facts of a payload's head and the name of the database that
//! owns the files go in, paths relative to the root come out.

mod document;
mod durable;
pub mod error;
pub mod layout;
mod owner;
pub mod payloads;
mod sweep;

pub use error::StorageError;
pub use owner::Ownership;
pub use payloads::{PageBytes, PayloadContent, PayloadFile, PayloadHead, Payloads, StoredMenu};
pub use sweep::SweepReport;
