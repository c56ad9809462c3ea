//! `suspicious_switches`: answers that would switch off more than half of what they cover, until enough of them agree.
//!
//! In: a judgement of `domain::switches`, in the transaction that writes or leaves out the answer. Out: whether it is
//! believed. It must not know what is switched.

use crate::statements::{first_column, named, sql};
use crate::{DbError, Tx};
use domain::store::StoreId;
use domain::switches::{SwitchKind, Switches};

/// Whether the answer is to be written: it is not suspicious, or it is believed by now. `scope` names what it covers;
/// `stores` are the ones that it concerns. Only a suspicious answer costs a statement; one that is written is followed by
/// [`settle`], or by the record of its crawl, which does the same.
pub async fn believe(tx: &Tx, scope: &str, switches: Switches, stores: &[StoreId]) -> Result<bool, DbError> {
    let kind = switches.kind.name();
    if !switches.is_suspicious() {
        return Ok(true);
    }
    let count = |count: usize| i32::try_from(count).unwrap_or(i32::MAX);
    let (covered, switched) = (count(switches.covered), count(switches.switched));
    first_column(&named!(tx.query_one("stores/switches/believe.sql", kind, scope, covered, switched, stores)).await?)
}

/// Forgets suspicious answers: one without a mass change came.
pub async fn settle(tx: &Tx, kind: SwitchKind, scopes: &[String]) -> Result<(), DbError> {
    tx.execute(sql!("stores/switches/settle.sql"), &[&kind.name(), &scopes]).await?;
    Ok(())
}

/// Lets the next answer that would switch the store, or its products, be believed. False where none was suspicious.
pub async fn accept(tx: &Tx, store: StoreId) -> Result<bool, DbError> {
    Ok(tx.execute(sql!("stores/switches/accept.sql"), &[&store]).await? > 0)
}
