//! Credentials of services: their kinds.

use super::vocabulary::vocabulary;

vocabulary! {
    pub enum CredentialKind {
        /// A user name and a password.
        Password,
        /// A file in Netscape's format.
        Cookies,
        Token,
        ApiKey,
    }
}
