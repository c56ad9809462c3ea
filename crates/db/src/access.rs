//! Callers of the API: their tokens and logins, the secrets that they store, their changes, and the answers kept for
//! repeated requests.

pub mod api_tokens;
pub mod audit_log;
pub mod credentials;
pub mod idempotency_keys;
