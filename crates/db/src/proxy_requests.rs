//! What people ask of single rows of `proxies`: to add one, to change one, to remove one. Each in the transaction of the request.

use super::proxies::{self, lock};
use super::row::first_column;
use super::{DbError, Tx, proxy_passwords};
use contract::proxies::ProxyListing;
use domain::proxy::{Budgets, ProxyEntry, ProxyId};
use foundation::secrets::SecretKeys;

/// What to change of a proxy; None leaves it as it is.
#[derive(Default)]
pub struct ProxyChange {
    /// Switches it on or off; either way its cooldown is over.
    pub is_active: Option<bool>,
    /// A new start for one that was benched.
    pub password: Option<String>,
    /// Empty: none.
    pub state_code: Option<String>,
    /// Empty: none.
    pub timezone: Option<String>,
}

/// What became of a request to add a proxy.
pub enum AddResult {
    New(Box<ProxyListing>),
    /// One with this address and user is there.
    Known(ProxyId),
}

pub async fn add(tx: &Tx, entry: &ProxyEntry, keys: &SecretKeys, budgets: Budgets) -> Result<AddResult, DbError> {
    lock(tx).await?;
    if let Some(known) = find(tx, entry).await? {
        return Ok(AddResult::Known(known));
    }
    proxies::import_into(tx, std::slice::from_ref(entry), keys).await?;
    let missing = || DbError::Other("a proxy that was added is not there".to_owned());
    let id = find(tx, entry).await?.ok_or_else(missing)?;
    Ok(AddResult::New(Box::new(proxies::get(tx, id, budgets).await?)))
}

/// `Missing` when there is none.
pub async fn change(
    tx: &Tx,
    id: ProxyId,
    change: &ProxyChange,
    keys: &SecretKeys,
    budgets: Budgets,
) -> Result<ProxyListing, DbError> {
    let ProxyListing { host, port, username, .. } = proxies::row(tx, id).await?;
    let seal = |password: &String| {
        let about = proxy_passwords::about(&host, port, username.as_deref());
        keys.seal(password, &about)
            .map_err(|error| DbError::Other(format!("the password of {host}:{port} cannot be stored: {error}")))
    };
    let password = change.password.as_ref().map(seal).transpose()?;
    let ProxyChange { is_active, state_code, timezone, .. } = change;
    let sql = include_str!("sql/proxies/change.sql");
    tx.execute(sql, &[&id, is_active, &password, state_code, timezone]).await?;
    proxies::get(tx, id, budgets).await
}

/// `Missing` when there is none. Tasks that use it end by it; their counts are dropped.
pub async fn remove(tx: &Tx, id: ProxyId) -> Result<(), DbError> {
    match tx.execute(include_str!("sql/proxies/remove.sql"), &[&id]).await? {
        0 => Err(DbError::Missing(format!("proxy {id}"))),
        _ => Ok(()),
    }
}

async fn find(tx: &Tx, entry: &ProxyEntry) -> Result<Option<ProxyId>, DbError> {
    let sql = include_str!("sql/proxies/find.sql");
    let (protocol, port) = (entry.protocol.name(), i32::from(entry.port));
    let row = tx.query_opt(sql, &[&protocol, &entry.host, &port, &entry.username]).await?;
    row.as_ref().map(first_column).transpose()
}
