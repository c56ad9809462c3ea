//! The pictures of products and the logos of brands, as an image host serves them: most are good, a few break
//! in every known way.
//!
//! In: an address below `/dutchie-images/`. Out: the answer, and beforehand a careful client's expected
//! reaction. All depends on (seed, address) only. Pictures are separate from the API, as on a CDN: neither
//! its faults nor its blocks of proxies reach them.

mod address;
mod content;
mod host;
mod http;
mod kind;
mod oracle;
mod painting;
mod photo;
mod plan;

pub(crate) use address::{Address, PATH};
pub(crate) use host::PictureHost;
pub(crate) use http::respond;
pub(crate) use oracle::{answer, kind, logo, product};
pub(crate) use plan::Subject;

pub use kind::PictureKind;
pub use oracle::{OraclePicture, PictureAnswer};
pub use photo::Photo;
