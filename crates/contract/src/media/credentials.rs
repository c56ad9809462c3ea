//! Credentials of services. A secret goes in and never comes out.

use std::fmt;

use chrono::{DateTime, Utc};
use serde::de::{Deserializer, Error as _};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

use super::Fields;
use super::record::record;
use crate::checks::{BadField, bad, check_text};
use domain::credential::CredentialKind;
use domain::vocabulary::Word;

/// Maximum bytes of a secret: cookies of a whole browser fit.
const MAX_SECRET: usize = 64 << 10;
const HIDDEN: &str = "***";

/// A text that neither Debug nor an error shows, and that is written as `***`.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct SecretText(String);

record! {
    Credentials: Credential {
        name: String,
        /// The service that the credential is for: `easynews`, `tmdb`, a forum's name, a platform of accounts.
        platform: String,
        #[schema(value_type = CredentialKind)]
        kind: Word<CredentialKind>,
        username: Option<String>,
        /// Result of the last job that used it; null: no job did.
        last_result: Option<String>,
        created_at: DateTime<Utc>,
        updated_at: DateTime<Utc>,
    }
    draft CredentialDraft {
        #[schema(min_length = 1, max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
        name: String,
        #[schema(min_length = 1, max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
        platform: String,
        kind: CredentialKind,
        #[schema(min_length = 1, max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
        username: Option<String>,
        /// A password, a token, a key, or the content of a file of cookies.
        #[serde(deserialize_with = "secret")]
        #[schema(value_type = String, min_length = 1, max_length = 65536, write_only)]
        secret: SecretText,
    }
    /// A change of the name or the platform requires another credential.
    change CredentialChange {
        #[schema(min_length = 1, max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
        username: String,
        #[serde(deserialize_with = "optional_secret")]
        #[schema(value_type = Option<String>, min_length = 1, max_length = 65536, write_only)]
        secret: SecretText,
    }
}

impl Fields for CredentialDraft {
    fn check(&self) -> Result<(), BadField> {
        check_text("name", Some(&self.name))?;
        check_text("platform", Some(&self.platform))?;
        check_text("username", self.username.as_deref())?;
        if self.kind == CredentialKind::Password && self.username.is_none() {
            return Err(bad("username", "missing: a password belongs to a user name"));
        }
        check_secret(&self.secret)
    }

    fn secret(&self) -> Option<&str> {
        Some(self.secret.reveal())
    }
}

impl Fields for CredentialChange {
    fn check(&self) -> Result<(), BadField> {
        self.check_not_empty("secret")?;
        check_text("username", self.username.as_deref())?;
        self.secret.as_ref().map_or(Ok(()), check_secret)
    }

    fn secret(&self) -> Option<&str> {
        self.secret.as_ref().map(SecretText::reveal)
    }
}

fn check_secret(secret: &SecretText) -> Result<(), BadField> {
    match secret.reveal().len() {
        0 => Err(bad("secret", "is empty")),
        1..=MAX_SECRET => Ok(()),
        _ => Err(bad("secret", format!("is longer than {MAX_SECRET} bytes"))),
    }
}

impl SecretText {
    /// Returns the secret, for the one place that needs it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl Serialize for SecretText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(HIDDEN)
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

/// No error repeats the text.
fn secret<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SecretText, D::Error> {
    String::deserialize(deserializer).map(SecretText).map_err(|_| D::Error::custom("expected a text"))
}

fn optional_secret<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SecretText>, D::Error> {
    secret(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case::a_token(json!({"name": "a", "platform": "tmdb", "kind": "token", "secret": "s"}), None)]
    #[case::a_password(json!({"name": "a", "platform": "easynews", "kind": "password", "username": "u", "secret": "s"}), None)]
    #[case::no_user(json!({"name": "a", "platform": "easynews", "kind": "password", "secret": "s"}), Some("username"))]
    #[case::empty(json!({"name": "a", "platform": "tmdb", "kind": "token", "secret": ""}), Some("secret"))]
    #[case::long(json!({"name": "a", "platform": "tmdb", "kind": "token", "secret": "s".repeat(MAX_SECRET + 1)}), Some("secret"))]
    #[case::a_line_break(json!({"name": "a\nb", "platform": "tmdb", "kind": "token", "secret": "s"}), Some("name"))]
    fn a_credential_is_whole(#[case] draft: serde_json::Value, #[case] fault: Option<&str>) {
        let draft: CredentialDraft = serde_json::from_value(draft).unwrap();
        assert_eq!(draft.check().err().map(|bad| bad.field), fault);
    }

    #[test]
    fn a_secret_is_neither_shown_nor_written() {
        let draft = json!({"name": "a", "platform": "tmdb", "kind": "token", "secret": "canary"});
        let draft: CredentialDraft = serde_json::from_value(draft).unwrap();
        assert_eq!(draft.secret(), Some("canary"));
        for shown in [format!("{draft:?}"), serde_json::to_string(&draft).unwrap()] {
            assert!(!shown.contains("canary"), "{shown}");
        }
        let wrong = json!({"name": "a", "platform": "tmdb", "kind": "token", "secret": ["canary"]});
        let error = serde_json::from_value::<CredentialDraft>(wrong).unwrap_err();
        assert!(!error.to_string().contains("canary"), "{error}");
    }
}
