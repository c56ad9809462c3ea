//! How drover looks from outside: an identity, a proxy, and the one session a task makes of them.
//!
//! It solves no challenge, forges no TLS fingerprint and logs in nowhere; it must not know tasks, platforms or the database.
//! In: a [`Request`]. Out: a [`Response`] with its body as received, or a [`FetchError`] that says who is to blame.

pub mod error;
pub mod proxy;
pub mod request;

pub use error::{Disposition, FetchError};
pub use proxy::{Proxy, ProxyAsk, ProxyId, ProxyLease, ProxyOutcome, ProxyProtocol, ProxySource};
pub use request::{Kind, Request, Response};
