//! HTTP/1 clients that read answers as browsers do: the one reader of the crawl, of media and of buckets.
//!
//! In: a connection, or a connector of connections. Out: hyper's clients over them. It must not know who is asked, or why.

mod framing;
mod lenient;

pub use framing::FramingCheck;
pub use lenient::{Lenient, checked, client, http1, lenient};
