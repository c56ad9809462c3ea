//! Files under the storage root: where they lie (pure), and payloads in them.
//!
//! It must not know platforms, tasks or the database: bytes and the few facts of a payload's head go in, paths relative to the
//! root come out.

mod document;
mod durable;
pub mod error;
pub mod layout;
pub mod payloads;

pub use error::StorageError;
pub use payloads::{PageBytes, PayloadContent, PayloadFile, PayloadHead, Payloads, StoredMenu};
