//! `Credentials`: tokens and logins of the API, kept in memory for a moment, so that requests do not each ask
//! the database. A token that is revoked opens nothing after [`MAX_AGE`], and at once in the process that
//! revokes it.

use std::collections::BTreeSet;
use std::mem::take;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use subtle::ConstantTimeEq;

use super::ApiError;
use db::access::api_tokens::Credential;
use db::{Db, DbError, access};
use domain::access::TokenId;
use foundation::digest::sha256_hex;

const MAX_AGE: Duration = Duration::from_secs(1);
/// Maximum age for a text that is not known: a token that another process made opens at once. Guesses wait, and do not each
/// ask the database.
const MAX_AGE_FOR_UNKNOWN: Duration = Duration::from_millis(50);
/// Maximum age while the database is away, so that the metrics of a process continue.
const MAX_AGE_IN_OUTAGE: Duration = Duration::from_secs(600);
/// Shows people, and scanners of leaked secrets, that it is a token.
const PREFIX: &str = "drover_";
const SECRET_BYTES: usize = 32;

/// A token, or the cookie of a login, as its holder has it. It is never shown or logged.
pub struct SecretText {
    text: String,
    is_login: bool,
}

/// Credentials of the API, as of a moment ago.
pub struct KnownCredentials {
    read_at: Instant,
    /// A token was made once.
    pub has_tokens: bool,
    credentials: Vec<Credential>,
}

#[derive(Default)]
pub struct Credentials {
    known: RwLock<Option<Arc<KnownCredentials>>>,
    /// One request at a time asks the database.
    reading: tokio::sync::Mutex<()>,
    used: Mutex<BTreeSet<TokenId>>,
}

impl SecretText {
    pub fn token(text: &str) -> Self {
        SecretText { text: text.to_owned(), is_login: false }
    }

    pub fn login(text: &str) -> Self {
        SecretText { text: text.to_owned(), is_login: true }
    }

    pub fn new_token() -> Self {
        SecretText::token(&format!("{PREFIX}{}", random()))
    }

    pub fn new_login() -> Self {
        SecretText::login(&random())
    }

    pub fn is_login(&self) -> bool {
        self.is_login
    }

    pub fn digest(&self) -> String {
        sha256_hex(&self.text)
    }

    /// Token that a page must send with each change made by this login. It reveals nothing of the cookie's
    /// text.
    pub fn csrf_token(&self) -> String {
        sha256_hex(format!("csrf {}", self.text))
    }

    pub fn is_csrf_token(&self, given: &[u8]) -> bool {
        self.csrf_token().as_bytes().ct_eq(given).into()
    }

    /// The credential itself, to show it once to its holder.
    pub fn reveal(&self) -> &str {
        &self.text
    }
}

impl KnownCredentials {
    /// Whether a request that was let in by this token would be let in now.
    pub fn holds(&self, token: Option<TokenId>) -> bool {
        match token {
            Some(token) => self.credentials.iter().any(|credential| credential.token == token),
            None => !self.has_tokens,
        }
    }

    /// Takes the same time for any text that opens nothing.
    pub fn find(&self, secret: &SecretText) -> Option<&Credential> {
        let digest = secret.digest();
        let mut found = None;
        for credential in &self.credentials {
            let is_equal: bool = credential.digest.as_bytes().ct_eq(digest.as_bytes()).into();
            if is_equal && credential.is_login == secret.is_login {
                found = Some(credential);
            }
        }
        found
    }
}

impl Credentials {
    /// Credentials of the API, at most [`MAX_AGE`] old; [`MAX_AGE_IN_OUTAGE`] while the database cannot be
    /// read.
    pub async fn known(&self, db: &Db) -> Result<Arc<KnownCredentials>, ApiError> {
        self.at_most(MAX_AGE, db).await
    }

    /// Same as [`Credentials::known`], but read after the request where `secret` opens nothing yet.
    pub async fn known_for(&self, secret: &SecretText, db: &Db) -> Result<Arc<KnownCredentials>, ApiError> {
        let known = self.known(db).await?;
        if known.find(secret).is_some() {
            return Ok(known);
        }
        tokio::time::sleep(MAX_AGE_FOR_UNKNOWN.saturating_sub(known.read_at.elapsed())).await;
        self.at_most(MAX_AGE_FOR_UNKNOWN, db).await
    }

    async fn at_most(&self, age: Duration, db: &Db) -> Result<Arc<KnownCredentials>, ApiError> {
        if let Some(known) = self.younger_than(age) {
            return Ok(known);
        }
        let _reading = self.reading.lock().await;
        if let Some(known) = self.younger_than(age) {
            return Ok(known);
        }
        let known = match self.read(db).await {
            Ok(known) => Arc::new(known),
            Err(error) => return self.younger_than(MAX_AGE_IN_OUTAGE).ok_or_else(|| error.into()),
        };
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = Some(known.clone());
        Ok(known)
    }

    /// The next request asks the database.
    pub fn forget(&self) {
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    pub fn note_use(&self, token: TokenId) {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).insert(token);
    }

    fn younger_than(&self, age: Duration) -> Option<Arc<KnownCredentials>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.clone().filter(|known| known.read_at.elapsed() < age)
    }

    async fn read(&self, db: &Db) -> Result<KnownCredentials, DbError> {
        let read_at = Instant::now();
        let client = &db.api_client().await?;
        let used: Vec<TokenId> =
            take(&mut *self.used.lock().unwrap_or_else(PoisonError::into_inner)).into_iter().collect();
        if !used.is_empty() {
            access::api_tokens::note_used(client, &used).await?;
        }
        let credentials = access::api_tokens::credentials(client).await?;
        let has_tokens = !credentials.is_empty() || access::api_tokens::exist(client).await?;
        Ok(KnownCredentials { read_at, has_tokens, credentials })
    }
}

fn random() -> String {
    URL_SAFE_NO_PAD.encode(rand::random::<[u8; SECRET_BYTES]>())
}
