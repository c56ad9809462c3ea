//! `credentials`: secrets of services, encrypted, each bound to the id, name and platform of its row.
//!
//! In: a secret, and the keys. Out: the secret again, for the job that needs it. Its other fields are read and
//! written by [`super::media_records`].

use std::fmt;

use thiserror::Error;

use super::row::{FromRow, known_word, rows};
use super::{Client, DbError, Tx};
use contract::media::credentials::CredentialKind;
use domain::disposition::{Disposition, HasDisposition};
use foundation::secrets::{SecretError, SecretKeys};

/// A credential with its secret in clear.
pub struct OpenCredential {
    pub id: i64,
    pub kind: CredentialKind,
    pub username: Option<String>,
    pub secret: String,
}

#[derive(Debug, Error)]
pub enum CredentialError {
    #[error(
        "no credential can be stored without a key: make one with `openssl rand -hex 32`, and give it to all processes as DROVER__SECRETS__KEY"
    )]
    NoKey,
    #[error("there is no credential of {platform}: add one with `drover media add credentials platform={platform} …`")]
    Absent { platform: String },
    #[error("credential {id} does not exist")]
    Missing { id: i64 },
    #[error("credential {name} cannot be read: {error}")]
    Unreadable { name: String, error: SecretError },
    #[error(transparent)]
    Db(#[from] DbError),
}

/// Encrypts the secret of a row of this transaction.
pub async fn seal(tx: &Tx, id: i64, secret: &str, keys: &SecretKeys) -> Result<(), CredentialError> {
    if keys.current_id().is_none() {
        return Err(CredentialError::NoKey);
    }
    let stored = stored(tx, id).await?;
    let unreadable = |error| CredentialError::Unreadable { name: stored.name.clone(), error };
    let sealed = keys.seal(secret, &stored.about()).map_err(unreadable)?;
    tx.execute(include_str!("sql/credentials/seal.sql"), &[&id, &sealed]).await?;
    Ok(())
}

pub async fn open(client: &Client, id: i64, keys: &SecretKeys) -> Result<OpenCredential, CredentialError> {
    stored(client, id).await?.open(keys)
}

/// The first credential of a platform.
pub async fn open_of_platform(
    client: &Client,
    platform: &str,
    keys: &SecretKeys,
) -> Result<OpenCredential, CredentialError> {
    let row = client.query_opt(include_str!("sql/credentials/of_platform.sql"), &[&platform]).await?;
    let row = row.ok_or_else(|| CredentialError::Absent { platform: platform.to_owned() })?;
    Stored::from_row(&row)?.open(keys)
}

/// Writes how the last job that used it fared.
pub async fn note_result(tx: &Tx, id: i64, result: &str) -> Result<(), DbError> {
    tx.execute(include_str!("sql/credentials/note_result.sql"), &[&id, &result]).await?;
    Ok(())
}

struct Stored {
    id: i64,
    name: String,
    platform: String,
    kind: CredentialKind,
    username: Option<String>,
    secret: String,
}

impl Stored {
    /// Context that a secret is bound to: in another row it is unreadable.
    fn about(&self) -> String {
        format!("{}\0{}\0{}", self.id, self.name, self.platform)
    }

    fn open(self, keys: &SecretKeys) -> Result<OpenCredential, CredentialError> {
        let opened = keys.open(&self.secret, &self.about());
        let secret = opened.map_err(|error| CredentialError::Unreadable { name: self.name, error })?;
        Ok(OpenCredential { id: self.id, kind: self.kind, username: self.username, secret })
    }
}

async fn stored(client: &Client, id: i64) -> Result<Stored, CredentialError> {
    let row = client.query_opt(include_str!("sql/credentials/get.sql"), &[&id]).await?;
    Ok(Stored::from_row(&row.ok_or(CredentialError::Missing { id })?)?)
}

/// A person has to add or mend it.
impl HasDisposition for CredentialError {
    fn disposition(&self) -> Disposition {
        match self {
            CredentialError::Db(error) => error.disposition(),
            _ => Disposition::Permanent,
        }
    }
}

impl fmt::Debug for OpenCredential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OpenCredential({})", self.id)
    }
}

rows! {
    Stored { id, name, platform, kind: known_word, username, secret }
}
