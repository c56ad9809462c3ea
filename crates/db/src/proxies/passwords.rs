//! The passwords of `proxies` as stored: encrypted where there is a key, each bound to the host, port and
//! user of its row.
//!
//! In: entries and rows, with passwords in plain text or as stored. Out: the other form. An unreadable
//! password affects its own row only.

use tokio_postgres::Row;

use crate::statements::{column, named, sql};
use crate::{Client, DbError};
use domain::proxy::{ProxyEntry, ProxyId};
use foundation::secrets::{SecretError, SecretKeys, key_id};

/// Number of rows in one part of a rekeying.
const PART: i64 = 500;

/// A proxy that cannot be used because its password is unreadable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadableProxy {
    pub id: ProxyId,
    pub host: String,
    pub port: i32,
    pub error: SecretError,
}

/// Result of [`rekey`]: numbers of passwords, changed or, with `is_dry`, to be changed.
#[derive(Debug, Default)]
pub struct RekeyReport {
    /// Stored in plain text before.
    pub encrypted: usize,
    /// Encrypted with another key before.
    pub reencrypted: usize,
    pub current: usize,
    pub unreadable: Vec<UnreadableProxy>,
}

/// Context that a password is bound to: in another row it is unreadable.
pub(crate) fn about(host: &str, port: i32, username: Option<&str>) -> String {
    format!("{host}\0{port}\0{}", username.unwrap_or_default())
}

/// Value to store for the password of each entry: the stored one where it holds the same password, in
/// whatever form. The caller has locked the table.
pub(crate) async fn to_store(
    client: &Client,
    entries: &[ProxyEntry],
    keys: &SecretKeys,
) -> Result<Vec<Option<String>>, DbError> {
    let stored = named!(client.query(
        "proxies/stored_passwords.sql",
        protocols = column(entries, |entry| entry.protocol.name()),
        hosts = column(entries, |entry| entry.host.as_str()),
        ports = column(entries, |entry| i32::from(entry.port)),
        usernames = column(entries, |entry| entry.username.as_deref())
    ))
    .await?;
    let to_store = entries.iter().zip(&stored).map(|(entry, row)| {
        let Some(password) = entry.password.as_deref() else { return Ok(None) };
        let about = about(&entry.host, i32::from(entry.port), entry.username.as_deref());
        let stored: Option<String> = row.try_get("password")?;
        let same = stored.filter(|stored| keys.open(stored, &about).is_ok_and(|known| known == password));
        match same {
            Some(stored) => Ok(Some(stored)),
            None => keys.seal(password, &about).map(Some).map_err(|error| refused(entry, &error)),
        }
    });
    to_store.collect()
}

fn refused(entry: &ProxyEntry, error: &SecretError) -> DbError {
    DbError::Other(format!("the password of {}:{} cannot be stored: {error}", entry.host, entry.port))
}

/// Encrypts with the current key every password that is not yet, in parts, unless `is_dry`. Nothing is lost
/// when it is stopped between two parts, or when an import changes a row meanwhile; the next run does the
/// rest.
pub async fn rekey(client: &Client, keys: &SecretKeys, is_dry: bool) -> Result<RekeyReport, DbError> {
    let (mut rekeyed, mut after) = (RekeyReport::default(), ProxyId::MIN);
    loop {
        let rows = client.query(sql!("proxies/next_passwords.sql"), &[&after, &PART]).await?;
        let mut changes = Vec::new();
        for row in &rows {
            after = row.try_get("id")?;
            changes.extend(rekeyed.add(row, keys)?);
        }
        if rows.is_empty() {
            return Ok(rekeyed);
        }
        if !is_dry && !changes.is_empty() {
            replace(client, &changes).await?;
        }
    }
}

/// A password in its new form.
struct PasswordChange {
    id: ProxyId,
    before: String,
    sealed: String,
}

async fn replace(client: &Client, changes: &[PasswordChange]) -> Result<(), DbError> {
    let (ids, before) = (column(changes, |it| it.id), column(changes, |it| it.before.as_str()));
    let sealed = column(changes, |it| it.sealed.as_str());
    client.execute(sql!("proxies/replace_passwords.sql"), &[&ids, &before, &sealed]).await?;
    Ok(())
}

impl RekeyReport {
    /// Counts a row, and returns its change, if any.
    fn add(&mut self, row: &Row, keys: &SecretKeys) -> Result<Option<PasswordChange>, DbError> {
        let (id, before): (ProxyId, String) = (row.try_get("id")?, row.try_get("password")?);
        let (host, port): (String, i32) = (row.try_get("host")?, row.try_get("port")?);
        let about = about(&host, port, row.try_get("username")?);
        let sealed = match keys.open(&before, &about).and_then(|password| keys.seal(&password, &about)) {
            Ok(sealed) => sealed,
            Err(error) => {
                self.unreadable.push(UnreadableProxy { id, host, port, error });
                return Ok(None);
            }
        };
        let is_current = keys.is_current(&before);
        let count = match key_id(&before) {
            _ if is_current => &mut self.current,
            Some(_) => &mut self.reencrypted,
            None => &mut self.encrypted,
        };
        *count += 1;
        Ok((!is_current).then_some(PasswordChange { id, before, sealed }))
    }
}
