//! Images: decides by content what bytes are, makes the kept WebP of a downloaded image, and renders a kept image in
//! another size or format.
//!
//! In: bytes and, for a rendering, the words of a query. Out: bytes, or a reason for a refusal. It computes only: it knows
//! no file, no socket, no clock and no environment, and starts no thread, so a caller decides where and for how long it runs.

mod accept;
mod blur;
mod colour;
mod container;
mod decode;
mod encode;
mod error;
mod exif;
mod format;
mod geometry;
mod limits;
mod parameters;
mod pixels;
mod planes;
mod render;
mod resize;
mod stored;
mod transform;
mod webp;

pub use container::{Header, probe};
pub use error::{BadParameter, ImageError};
pub use format::Format;
pub use limits::{MAX_BYTES, MAX_PIXELS, MAX_PROFILE_BYTES, MAX_SIDE};
pub use render::{Rendered, render};
pub use stored::{Stored, to_stored};
pub use transform::{DEFAULT_QUALITY, Fit, MAX_BLUR, MAX_TARGET_SIDE, MIN_BLUR, Request, Transform};
