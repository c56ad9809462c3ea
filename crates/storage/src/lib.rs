//! Files under the storage root: their layout (pure), payload files, and images.
//!
//! In: bytes, a payload's head, whose image it is, and the name of the database that owns the files. Out:
//! paths relative to the root. It must not know platforms, tasks or the database.

mod data;
mod diff;
mod document;
mod durable;
pub mod error;
pub mod free_space;
pub mod image_layout;
mod image_sweep;
mod images;
pub mod layout;
mod owner;
pub mod payloads;
mod remove;
mod sweep;
mod variants;

pub use data::{PayloadData, PayloadForm, SurroundingText};
pub use error::StorageError;
pub use images::{Images, StoredImage};
pub use owner::Ownership;
pub use payloads::{PageBytes, PayloadContent, PayloadFile, PayloadHead, Payloads, StoredMenu};
pub use sweep::SweepReport;
pub use variants::{CachedFile, Variants};
