//! Changes of single rows of `proxies` by request: adds one, changes one, removes one. Each in the
//! transaction of the request.

use super::lock;
use crate::statements::{first_column, named, sql};
use crate::{DbError, Tx, proxies};
use contract::proxies::ProxyListing;
use domain::proxy::{Budgets, ProxyEntry, ProxyId};
use foundation::secrets::SecretKeys;

/// Changed fields of a proxy; None leaves a field as it is.
#[derive(Default)]
pub struct ProxyChange {
    /// Switches it on or off; both end its cooldown.
    pub is_active: Option<bool>,
    /// Ends the cooldown of a benched proxy.
    pub password: Option<String>,
    /// Empty removes it.
    pub state_code: Option<String>,
    /// Empty removes it.
    pub timezone: Option<String>,
}

/// Result of a request to add a proxy.
pub enum AddResult {
    New(Box<ProxyListing>),
    /// A proxy with this address and user exists.
    Known(ProxyId),
}

pub async fn add(tx: &Tx, entry: &ProxyEntry, keys: &SecretKeys, budgets: Budgets) -> Result<AddResult, DbError> {
    lock(tx).await?;
    if let Some(known) = find(tx, entry).await? {
        return Ok(AddResult::Known(known));
    }
    proxies::import_into(tx, std::slice::from_ref(entry), keys).await?;
    let missing = || DbError::Other("a proxy that was added is missing".to_owned());
    let id = find(tx, entry).await?.ok_or_else(missing)?;
    Ok(AddResult::New(Box::new(proxies::get(tx, id, budgets).await?)))
}

/// `Missing` when the proxy does not exist.
pub async fn change(
    tx: &Tx,
    id: ProxyId,
    change: &ProxyChange,
    keys: &SecretKeys,
    budgets: Budgets,
) -> Result<ProxyListing, DbError> {
    let ProxyListing { host, port, username, .. } = proxies::row(tx, id).await?;
    let seal = |password: &String| {
        let about = proxies::passwords::about(&host, port, username.as_deref());
        keys.seal(password, &about)
            .map_err(|error| DbError::Other(format!("the password of {host}:{port} cannot be stored: {error}")))
    };
    let password = change.password.as_ref().map(seal).transpose()?;
    let ProxyChange { is_active, state_code, timezone, .. } = change;
    named!(tx.execute("proxies/change.sql", id, is_on = is_active, password, state = state_code, timezone)).await?;
    proxies::get(tx, id, budgets).await
}

/// Returns the removed proxy, or `Missing` when it does not exist. Tasks that use it finish with it; their counts
/// are dropped.
pub async fn remove(tx: &Tx, id: ProxyId) -> Result<ProxyListing, DbError> {
    let removed = proxies::row(tx, id).await?;
    match tx.execute(sql!("proxies/remove.sql"), &[&id]).await? {
        0 => Err(DbError::Missing(format!("proxy {id}"))),
        _ => Ok(removed),
    }
}

async fn find(tx: &Tx, entry: &ProxyEntry) -> Result<Option<ProxyId>, DbError> {
    let (protocol, port) = (entry.protocol.name(), i32::from(entry.port));
    let row =
        named!(tx.query_opt("proxies/find.sql", protocol, host = entry.host, port, username = entry.username)).await?;
    row.as_ref().map(first_column).transpose()
}
