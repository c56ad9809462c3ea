//! How drover looks from outside: an identity, a proxy, and the one session a task makes of them.
//!
//! It solves no challenge, forges no TLS fingerprint and logs in nowhere; it must not know tasks, platforms or the database.
//! In: a [`Request`]. Out: a [`Response`] with its body as received, or a [`FetchError`] that says who is to blame.
//!
//! Reading order: `session` (what callers hold), `rotation` (what follows a failure), `headers` and `identity` (what is
//! shown), `transport` (how it gets there).

pub mod allowlist;
mod answer;
pub mod consistency;
mod decode;
pub mod error;
mod failure;
pub mod fingerprint;
pub mod headers;
pub mod identity;
mod jar;
pub mod locale;
mod politeness;
pub mod proxy;
mod proxy_connect;
pub mod request;
pub mod rotation;
pub mod session;
pub mod tls;
pub mod trace;
mod transport;
mod way;

pub use allowlist::AllowList;
pub use error::{Disposition, FetchError};
pub use fingerprint::{Fingerprint, Protocol};
pub use identity::{BadFile, Identities, Identity};
pub use locale::{StateLocale, States};
pub use proxy::{Proxy, ProxyAsk, ProxyId, ProxyLease, ProxyOutcome, ProxyProtocol, ProxySource};
pub use request::{Kind, Request, Response};
pub use session::{Classify, Parts, Session, SessionAsk, Sessions};
pub use tls::TlsSetupError;
pub use trace::{Trace, TraceHandle};
