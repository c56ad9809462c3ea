//! `SecretKeys`: the keys that keep passwords unreadable in the database, and in its dumps.
//!
//! In: a password, and a text about it that it is bound to. Out: the text that its column holds, and back. A
//! stored text is `$drover$1$KEY$BASE64`: the version, the id of its key, and nonce and ciphertext of
//! XChaCha20-Poly1305. Nothing here is shown by `Debug`, and no error repeats a key or password. It must not
//! know tables.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use thiserror::Error;

use crate::digest::sha256_hex;

/// Beginning of every encrypted text, of whatever version.
pub const MARK: &str = "$drover$";
const VERSION: &str = "$drover$1$";
const KEY_BYTES: usize = 32;
const NONCE_BYTES: usize = 24;
const ID_DIGITS: usize = 8;

/// One current key, or none, and those before it, which only read.
#[derive(Clone, Default)]
pub struct SecretKeys {
    current: Option<Key>,
    previous: Vec<Key>,
}

#[derive(Clone)]
struct Key {
    /// Names the key in stored texts; says nothing about it.
    id: String,
    cipher: XChaCha20Poly1305,
}

#[derive(Debug, Error)]
#[error("is not a key: it must be 64 hex digits, as `openssl rand -hex 32` prints them")]
pub struct BadKey;

#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SecretError {
    #[error("it is encrypted with key {0}, which is neither secrets.key nor one of secrets.previous_keys")]
    UnknownKey(String),
    #[error("it is not what key {0} encrypted for this row: import it again")]
    Altered(String),
    #[error("it is encrypted in a form that this program does not know")]
    UnknownForm,
    #[error("it begins with {MARK}, which marks encrypted texts")]
    Marked,
    #[error("it cannot be encrypted")]
    NotEncrypted,
}

impl SecretKeys {
    /// Empty texts are skipped.
    pub fn parse<'a>(current: &str, previous: impl IntoIterator<Item = &'a str>) -> Result<SecretKeys, BadKey> {
        let current = if current.is_empty() { None } else { Some(Key::parse(current)?) };
        let previous = previous.into_iter().map(Key::parse).collect::<Result<_, _>>()?;
        Ok(SecretKeys { current, previous })
    }

    /// The id of the key that encrypts.
    pub fn current_id(&self) -> Option<&str> {
        self.current.as_ref().map(|key| key.id.as_str())
    }

    /// The text to store for `secret`: the secret itself where there is no key. `about` must be given again
    /// to read it.
    pub fn seal(&self, secret: &str, about: &str) -> Result<String, SecretError> {
        if secret.starts_with(MARK) {
            return Err(SecretError::Marked);
        }
        let Some(key) = &self.current else { return Ok(secret.to_owned()) };
        let nonce: [u8; NONCE_BYTES] = rand::random();
        let payload = Payload { msg: secret.as_bytes(), aad: about.as_bytes() };
        let sealed = key.cipher.encrypt(&XNonce::from(nonce), payload).map_err(|_| SecretError::NotEncrypted)?;
        Ok(format!("{VERSION}{}${}", key.id, STANDARD_NO_PAD.encode([&nonce[..], &sealed].concat())))
    }

    /// The secret of a stored text, also of one that was stored without a key.
    pub fn open(&self, stored: &str, about: &str) -> Result<String, SecretError> {
        if !stored.starts_with(MARK) {
            return Ok(stored.to_owned());
        }
        let rest = stored.strip_prefix(VERSION).ok_or(SecretError::UnknownForm)?;
        let (id, sealed) = rest.split_once('$').ok_or(SecretError::UnknownForm)?;
        let mut keys = self.current.iter().chain(&self.previous);
        let key = keys.find(|key| key.id == id).ok_or_else(|| SecretError::UnknownKey(shown(id)))?;
        key.open(sealed, about).ok_or_else(|| SecretError::Altered(key.id.clone()))
    }

    /// Whether a stored text is as [`seal`](Self::seal) would store it now.
    pub fn is_current(&self, stored: &str) -> bool {
        self.current_id() == key_id(stored)
    }
}

/// The id of the key that a stored text is encrypted with; none where it is not encrypted.
pub fn key_id(stored: &str) -> Option<&str> {
    stored.strip_prefix(VERSION)?.split('$').next()
}

/// Ids are written by us, and yet a column may hold anything.
fn shown(id: &str) -> String {
    id.chars().filter(char::is_ascii_hexdigit).take(ID_DIGITS).collect()
}

impl Key {
    fn parse(text: &str) -> Result<Key, BadKey> {
        let bytes = bytes_of(text.trim()).ok_or(BadKey)?;
        let mut id = sha256_hex([b"drover key id\0".as_slice(), &bytes].concat());
        id.truncate(ID_DIGITS);
        Ok(Key { id, cipher: XChaCha20Poly1305::new(&bytes.into()) })
    }

    fn open(&self, sealed: &str, about: &str) -> Option<String> {
        let bytes = STANDARD_NO_PAD.decode(sealed).ok()?;
        let (nonce, sealed) = bytes.split_first_chunk::<NONCE_BYTES>()?;
        let payload = Payload { msg: sealed, aad: about.as_bytes() };
        String::from_utf8(self.cipher.decrypt(&XNonce::from(*nonce), payload).ok()?).ok()
    }
}

fn bytes_of(hex: &str) -> Option<[u8; KEY_BYTES]> {
    if hex.len() != 2 * KEY_BYTES || !hex.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let mut bytes = [0; KEY_BYTES];
    for (nth, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(hex.get(2 * nth..2 * nth + 2)?, 16).ok()?;
    }
    Some(bytes)
}

impl fmt::Debug for SecretKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let previous: Vec<_> = self.previous.iter().map(|key| &key.id).collect();
        f.debug_struct("SecretKeys").field("current", &self.current_id()).field("previous", &previous).finish()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn hex(digit: char) -> String {
        digit.to_string().repeat(2 * KEY_BYTES)
    }

    fn keys(current: char, previous: &[char]) -> SecretKeys {
        let previous: Vec<String> = previous.iter().copied().map(hex).collect();
        SecretKeys::parse(&hex(current), previous.iter().map(String::as_str)).unwrap()
    }

    #[test]
    fn a_secret_is_unreadable_and_never_stored_twice_the_same() {
        let keys = keys('a', &[]);
        let [once, twice] = [0, 1].map(|_| keys.seal("s3cret", "host").unwrap());
        assert!(!once.contains("s3cret") && once != twice && once.starts_with("$drover$1$"), "{once}");
        assert_eq!(keys.open(&once, "host").unwrap(), "s3cret");
        assert!(keys.is_current(&once) && key_id(&once) == keys.current_id());
    }

    #[test]
    fn without_a_key_it_is_stored_as_it_is() {
        let none = SecretKeys::parse("", []).unwrap();
        assert_eq!(none.seal("s3cret", "host").unwrap(), "s3cret");
        assert!(none.is_current("s3cret") && !keys('a', &[]).is_current("s3cret"));
    }

    #[test]
    fn a_previous_key_reads_what_it_wrote_and_one_that_is_gone_is_named() {
        let old = keys('a', &[]).seal("s3cret", "host").unwrap();
        assert_eq!(keys('b', &['c', 'a']).open(&old, "host").unwrap(), "s3cret");
        assert!(!keys('b', &['a']).is_current(&old));
        let id = keys('a', &[]).current_id().unwrap().to_owned();
        assert_eq!(keys('b', &[]).open(&old, "host"), Err(SecretError::UnknownKey(id)));
    }

    #[rstest]
    #[case::of_another_row("host-2", |stored| stored)]
    #[case::changed("host", |mut stored: String| { let last = stored.pop(); stored.push(if last == Some('A') { 'B' } else { 'A' }); stored })]
    #[case::cut("host", |stored: String| stored[..stored.len() - 6].to_owned())]
    #[case::nothing_left("host", |stored: String| stored[..stored.rfind('$').unwrap() + 1].to_owned())]
    fn what_was_moved_or_changed_is_refused(#[case] about: &str, #[case] change: fn(String) -> String) {
        let keys = keys('a', &[]);
        let stored = change(keys.seal("a longer password", "host").unwrap());
        assert!(matches!(keys.open(&stored, about), Err(SecretError::Altered(_))));
    }

    #[test]
    fn a_form_of_a_later_version_is_no_password() {
        assert_eq!(keys('a', &[]).open("$drover$2$x", "host"), Err(SecretError::UnknownForm));
        assert_eq!(keys('a', &[]).seal("$drover$2$x", "host"), Err(SecretError::Marked));
    }

    #[rstest]
    #[case::short("abc")]
    #[case::no_digits(&"z".repeat(64))]
    #[case::beyond_ascii(&"é".repeat(32))]
    fn what_is_no_key_is_refused_and_not_repeated(#[case] text: &str) {
        let error = SecretKeys::parse(text, []).unwrap_err().to_string();
        assert!(!error.contains(text), "{error}");
        assert!(SecretKeys::parse("", [text]).is_err());
    }

    #[test]
    fn keys_are_shown_by_their_ids() {
        let shown = format!("{:?}", keys('a', &['b']));
        assert!(!shown.contains("aaaa") && !shown.contains("bbbb"), "{shown}");
    }

    proptest! {
        #[test]
        fn every_secret_comes_back(secret in ".{0,300}", about in ".{0,50}") {
            let keys = keys('a', &[]);
            prop_assert_eq!(keys.open(&keys.seal(&secret, &about).unwrap(), &about).unwrap(), secret);
        }

        #[test]
        fn no_stored_text_panics(stored in "([$]drover[$]1[$])?[0-9a-f$+/]{0,80}") {
            let _ = keys('a', &[]).open(&stored, "host");
        }
    }
}
