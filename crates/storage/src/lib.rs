//! Files under the storage root or in a bucket: their layout (pure), payload files, and images.
//!
//! In: bytes, a payload's head, whose image it is, and the name of the database that owns the files. Out:
//! paths relative to the root. It must not know platforms, tasks or the database.

#[cfg(feature = "cloud")]
mod bucket;
#[cfg(not(feature = "cloud"))]
#[path = "bucket_absent.rs"]
mod bucket;
mod copy;
mod data;
mod diff;
mod document;
mod durable;
pub mod error;
mod files;
pub mod free_space;
pub mod image_layout;
mod image_sweep;
mod images;
pub mod layout;
mod left;
mod local;
mod media_files;
pub mod media_layout;
mod owner;
pub mod payloads;
mod place;
mod remove;
mod sweep;
mod variants;

pub use copy::{CopyReport, copy_files, count_files, hand_over};
pub use data::{PayloadData, PayloadForm, SurroundingText};
pub use error::StorageError;
pub use images::{Images, StoredImage};
pub use media_files::MediaFiles;
pub use owner::{Ownership, RootOwner, is_same_owner, root_owner};
pub use payloads::{PageBytes, PayloadContent, PayloadFile, PayloadHead, Payloads, StoredMenu};
pub use place::{Place, PlaceError};
pub use sweep::SweepReport;
pub use variants::{CachedFile, Variants};
