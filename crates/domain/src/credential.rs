//! Credentials of services: their kinds.

use super::vocabulary::vocabulary;

vocabulary! {
    pub enum CredentialKind {
        /// With a user name.
        Password,
        /// A file in Netscape's format.
        Cookies,
        Token,
        ApiKey,
    }
}
