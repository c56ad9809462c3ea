//! Requests to platforms as a browser sends them, or under drover's own name, through proxies: an identity and a
//! proxy make a route; the routes of a task are its session.
//!
//! It solves no challenge, forges no TLS fingerprint and logs in nowhere; it must not know adapters, handlers
//! or the database. [`FetchError`] also holds faults that adapters and their driver find. In: a [`Request`].
//! Out: a [`Response`] with its body as received and decoded, or a [`FetchError`] that says what the caller
//! does next.
//!
//! Reading order: `session` (what callers hold), `route` (one proxy and identity), `rotation` (the step after
//! a failure), `headers` and `identity` (the sent bytes), `transport` (the connection).

pub mod allowlist;
mod answer;
pub mod consistency;
mod cookie_date;
mod data_file;
pub mod decode;
mod deps;
pub mod error;
mod failure;
mod fetch_meter;
pub mod fingerprint;
mod header_text;
pub mod headers;
mod host_limiter;
mod host_limits;
mod host_robots;
mod host_table;
pub mod identity;
mod jar;
pub mod locale;
pub mod proxy;
pub mod proxy_connect;
pub mod request;
mod robots_table;
pub mod rotation;
mod route;
mod secrets;
pub mod session;
mod socks_reply;
pub mod tls;
pub mod trace;
mod traffic;
mod transport;
mod unicode;

pub use allowlist::AllowList;
pub use data_file::DataFileError;
pub use error::{FetchError, RequestDisposition};
pub use fetch_meter::FetchMeter;
pub use fingerprint::{Fingerprint, Protocol};
pub use host_limits::{HostRateLimits, RequestPermit};
pub use host_table::{ExchangeResult, HostTable};
pub use identity::{Identities, Identity, IdentityKind};
pub use locale::{StateLocale, States};
pub use proxy::{Proxy, ProxyAsk, ProxyId, ProxyLease, ProxyOutcome, ProxyProtocol, ProxyReport, ProxySource};
pub use request::{Request, RequestKind, Response};
pub use robots_table::RobotsTable;
pub use route::{Document, DocumentLimits};
pub use secrets::Secrets;
pub use session::{Session, SessionAsk, SessionConfig, Sessions};
pub use tls::TlsSetupError;
pub use trace::{Trace, TraceHandle};
