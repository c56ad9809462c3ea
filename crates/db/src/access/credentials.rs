//! `credentials`: secrets of services, encrypted, each bound to the id, name and platform of its row.
//!
//! In: a secret, and the keys. Out: the secret again, for the job that needs it. Its other fields are read and
//! written by [`crate::media::records`].

use std::fmt;

use thiserror::Error;

use crate::statements::{FromRow, rows, sql, word};
use crate::{Client, DbError, Tx};
use domain::credential::CredentialKind;
use domain::task::disposition::{Disposition, HasDisposition};
use domain::vocabulary::Word;
use foundation::secrets::{SecretError, SecretKeys, key_id};

/// Maximum number of credentials of one rekeying.
const MAX_CREDENTIALS: i64 = 10_000;
const NOT_ENCRYPTED: &str =
    "its secret is not encrypted: set it again with `drover media set credentials ID --secret-file FILE`";

/// A credential with its secret in clear.
pub struct OpenCredential {
    pub id: i64,
    pub platform: String,
    pub kind: Word<CredentialKind>,
    pub username: Option<String>,
    pub secret: String,
}

/// Result of [`rekey`]: numbers of secrets, changed or, with `is_dry`, to be changed.
#[derive(Debug, Default)]
pub struct RekeyedCredentials {
    pub reencrypted: usize,
    pub current: usize,
    /// Names of credentials, each with the reason.
    pub unreadable: Vec<(String, String)>,
}

#[derive(Debug, Error)]
pub enum CredentialError {
    #[error(
        "no credential can be stored without a key: create one with `openssl rand -hex 32`, and give it to all processes as DROVER__SECRETS__KEY"
    )]
    NoKey,
    #[error("there is no credential of {platform}: add one with `drover media add credentials platform={platform} …`")]
    Absent { platform: String },
    #[error("credential {id} does not exist")]
    Missing { id: i64 },
    #[error("credential {name} is for {platform}, not for {wanted}")]
    Foreign { name: String, platform: String, wanted: String },
    #[error(
        "credential {name} has no encrypted secret: give it one with `drover media set credentials {id} --secret-file FILE`"
    )]
    NotEncrypted { id: i64, name: String },
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
    tx.execute(sql!("access/credentials/seal.sql"), &[&id, &sealed]).await?;
    Ok(())
}

/// The credential with this id.
pub async fn open(client: &Client, id: i64, keys: &SecretKeys) -> Result<OpenCredential, CredentialError> {
    stored(client, id).await?.open(keys)
}

/// The credential with this id, which must be one of the platform: also a row that was written by hand sends no service
/// the secret of another.
pub async fn open_for(
    client: &Client,
    id: i64,
    platform: &str,
    keys: &SecretKeys,
) -> Result<OpenCredential, CredentialError> {
    let stored = stored(client, id).await?;
    match stored.platform == platform {
        true => stored.open(keys),
        false => {
            let CredentialRow { name, platform: of, .. } = stored;
            Err(CredentialError::Foreign { name, platform: of, wanted: platform.to_owned() })
        }
    }
}

/// The first credential of a platform.
pub async fn open_of_platform(
    client: &Client,
    platform: &str,
    keys: &SecretKeys,
) -> Result<OpenCredential, CredentialError> {
    let row = client.query_opt(sql!("access/credentials/of_platform.sql"), &[&platform]).await?;
    let row = row.ok_or_else(|| CredentialError::Absent { platform: platform.to_owned() })?;
    CredentialRow::from_row(&row)?.open(keys)
}

/// Encrypts with the current key every secret that another key encrypted, unless `is_dry`. Nothing is lost when
/// it is stopped in between; the next run does the rest.
pub async fn rekey(client: &Client, keys: &SecretKeys, is_dry: bool) -> Result<RekeyedCredentials, DbError> {
    let mut rekeyed = RekeyedCredentials::default();
    for row in client.query(sql!("access/credentials/all.sql"), &[&MAX_CREDENTIALS]).await? {
        let stored = CredentialRow::from_row(&row)?;
        if key_id(&stored.secret).is_none() {
            rekeyed.unreadable.push((stored.name, NOT_ENCRYPTED.to_owned()));
            continue;
        }
        let about = stored.about();
        let sealed = match keys.open(&stored.secret, &about).and_then(|secret| keys.seal(&secret, &about)) {
            Ok(sealed) => sealed,
            Err(error) => {
                rekeyed.unreadable.push((stored.name, error.to_string()));
                continue;
            }
        };
        if keys.is_current(&stored.secret) {
            rekeyed.current += 1;
            continue;
        }
        rekeyed.reencrypted += 1;
        if !is_dry {
            let sql = sql!("access/credentials/replace_secret.sql");
            client.execute(sql, &[&stored.id, &stored.secret, &sealed]).await?;
        }
    }
    Ok(rekeyed)
}

/// Writes how the last job that used it fared.
pub async fn note_result(tx: &Tx, id: i64, result: &str) -> Result<(), DbError> {
    tx.execute(sql!("access/credentials/note_result.sql"), &[&id, &result]).await?;
    Ok(())
}

struct CredentialRow {
    id: i64,
    name: String,
    platform: String,
    kind: Word<CredentialKind>,
    username: Option<String>,
    secret: String,
}

impl CredentialRow {
    /// Context that a secret is bound to: in another row it is unreadable.
    fn about(&self) -> String {
        format!("{}\0{}\0{}", self.id, self.name, self.platform)
    }

    fn open(self, keys: &SecretKeys) -> Result<OpenCredential, CredentialError> {
        // one that was written by hand is bound to no row
        if key_id(&self.secret).is_none() {
            return Err(CredentialError::NotEncrypted { id: self.id, name: self.name });
        }
        let opened = keys.open(&self.secret, &self.about());
        let secret = opened.map_err(|error| CredentialError::Unreadable { name: self.name, error })?;
        let CredentialRow { id, platform, kind, username, .. } = self;
        Ok(OpenCredential { id, platform, kind, username, secret })
    }
}

async fn stored(client: &Client, id: i64) -> Result<CredentialRow, CredentialError> {
    let row = client.query_opt(sql!("access/credentials/get.sql"), &[&id]).await?;
    Ok(CredentialRow::from_row(&row.ok_or(CredentialError::Missing { id })?)?)
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
    CredentialRow { id, name, platform, kind: word, username, secret }
}
