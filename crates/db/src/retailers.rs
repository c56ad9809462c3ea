//! `retailers`: stores of several platforms that are the same shop, the proposals to join some, and what people decided.
//!
//! In: the caller's transaction. Out: retailers and proposals, or the reason why nothing was changed. [`matching`] makes them; nothing
//! here compares stores.

pub mod matching;

use thiserror::Error;

use crate::statements::{FromRow, column, document, first_column, first_columns, named, read_all, rows, sql};
use crate::{Client, DbError, Tx};
use contract::retailers::{ImportedLicences, Retailer, RetailerFilter, RetailerProposal};
use domain::retailer::{RegisterEntry, RetailerId};
use domain::store::StoreId;

/// Advisory lock of a transaction that changes retailers ("retail" in ASCII).
const LOCK: i64 = 0x7265_7461_696c;

/// Reason why no retailer was changed.
#[derive(Debug, Error)]
pub enum RetailerError {
    #[error("store {0} does not exist")]
    MissingStore(StoreId),
    #[error("retailer {0} does not exist")]
    Missing(RetailerId),
    #[error("store {0} belongs to no retailer")]
    NoRetailer(StoreId),
    #[error(
        "stores {one} and {other} are of retailer {retailer}: take one of them out (drover retailers take-out {other})"
    )]
    Together { one: StoreId, other: StoreId, retailer: RetailerId },
    #[error(transparent)]
    Db(#[from] DbError),
}

/// Lists at most `limit` retailers by id, after `after`.
pub async fn list(
    client: &Client,
    filter: &RetailerFilter,
    after: Option<RetailerId>,
    limit: i64,
) -> Result<Vec<Retailer>, DbError> {
    find(client, filter, None, after, limit).await
}

pub async fn get(client: &Client, id: RetailerId) -> Result<Option<Retailer>, DbError> {
    Ok(find(client, &RetailerFilter::default(), Some(id), None, 1).await?.pop())
}

/// The proposals, the strongest first: at most `limit` after the rank `after`.
pub async fn proposals(client: &Client, after: Option<i32>, limit: i64) -> Result<Vec<RetailerProposal>, DbError> {
    let after = after.unwrap_or_default();
    read_all(&client.query(sql!("retailers/proposals.sql"), &[&after, &limit]).await?)
}

/// Makes two stores one retailer, and returns it: that of the first which has one, with all stores of the other's.
pub async fn join(tx: &Tx, pair: [StoreId; 2]) -> Result<RetailerId, RetailerError> {
    let stores = locked(tx, pair).await?;
    tx.execute(sql!("retailers/bring_together.sql"), &[&pair[0], &pair[1]]).await?;
    let [one, other] = &stores;
    let id = match (one.retailer_id, other.retailer_id) {
        (Some(id), Some(gone)) if id != gone => {
            tx.execute(sql!("retailers/merge.sql"), &[&id, &gone]).await?;
            id
        }
        (Some(id), _) | (None, Some(id)) => id,
        (None, None) => {
            let state = one.state.as_ref().or(other.state.as_ref());
            // a platform adds a place or a word to the shop's name
            let name = if other.name.len() < one.name.len() { &other.name } else { &one.name };
            first_column(&tx.query_one(sql!("retailers/add.sql"), &[name, &state]).await?)?
        }
    };
    tx.execute(sql!("retailers/join.sql"), &[&id, &&pair[..]]).await?;
    forget_needless(tx).await?;
    Ok(id)
}

/// Keeps two stores apart: no match joins them.
pub async fn keep_apart(tx: &Tx, pair: [StoreId; 2]) -> Result<(), RetailerError> {
    let [one, other] = locked(tx, pair).await?;
    if let (Some(retailer), true) = (one.retailer_id, one.retailer_id == other.retailer_id) {
        return Err(RetailerError::Together { one: pair[0], other: pair[1], retailer });
    }
    tx.execute(sql!("retailers/keep_apart.sql"), &[&pair[0], &&pair[1..]]).await?;
    tx.execute(sql!("retailers/forget_pair.sql"), &[&pair[0], &pair[1]]).await?;
    Ok(())
}

/// Takes a store out of its retailer, and keeps it apart from the retailer's other stores. Returns the retailer, which is
/// gone with its last but one store.
pub async fn take_out(tx: &Tx, store: StoreId) -> Result<RetailerId, RetailerError> {
    lock(tx).await?;
    let beside: Vec<StoreId> = first_columns(&tx.query(sql!("retailers/beside.sql"), &[&store]).await?)?;
    let Some(row) = tx.query_opt(sql!("retailers/leave.sql"), &[&store]).await? else {
        return match crate::stores::get(tx, store).await? {
            Some(_) => Err(RetailerError::NoRetailer(store)),
            None => Err(RetailerError::MissingStore(store)),
        };
    };
    tx.execute(sql!("retailers/keep_apart.sql"), &[&store, &beside]).await?;
    forget_needless(tx).await?;
    Ok(first_column(&row)?)
}

pub async fn rename(tx: &Tx, id: RetailerId, name: &str) -> Result<(), RetailerError> {
    match tx.execute(sql!("retailers/rename.sql"), &[&id, &name]).await? {
        0 => Err(RetailerError::Missing(id)),
        _ => Ok(()),
    }
}

/// Adds licences to a state's register, or corrects them.
pub async fn import_licences(tx: &Tx, state: &str, entries: &[RegisterEntry]) -> Result<ImportedLicences, DbError> {
    let row = named!(tx.query_one(
        "retailers/register.sql",
        state,
        licences = column(entries, |entry| entry.licence.as_str()),
        names = column(entries, |entry| entry.name.as_str()),
        addresses = column(entries, |entry| entry.address.as_str()),
        cities = column(entries, |entry| entry.city.as_deref()),
        zips = column(entries, |entry| entry.zip.as_deref())
    ))
    .await?;
    ImportedLicences::from_row(&row)
}

async fn find(
    client: &Client,
    filter: &RetailerFilter,
    id: Option<RetailerId>,
    after: Option<RetailerId>,
    limit: i64,
) -> Result<Vec<Retailer>, DbError> {
    let rows = named!(client.query(
        "retailers/list.sql",
        after = after.unwrap_or_default(),
        id,
        state = filter.state,
        q = filter.q,
        limit
    ))
    .await?;
    read_all(&rows)
}

/// A store that a decision is about.
struct DecidedStore {
    name: String,
    state: Option<String>,
    retailer_id: Option<RetailerId>,
}

async fn locked(tx: &Tx, pair: [StoreId; 2]) -> Result<[DecidedStore; 2], RetailerError> {
    lock(tx).await?;
    let rows = tx.query(sql!("retailers/of_stores.sql"), &[&&pair[..]]).await?;
    let known: Vec<StoreId> =
        rows.iter().map(|row| row.try_get("id")).collect::<Result<_, _>>().map_err(DbError::from)?;
    if let Some(missing) = pair.into_iter().find(|store| !known.contains(store)) {
        return Err(RetailerError::MissingStore(missing));
    }
    let stores: Vec<DecidedStore> = read_all(&rows)?;
    <[DecidedStore; 2]>::try_from(stores).map_err(|_| RetailerError::MissingStore(pair[1]))
}

/// One transaction at a time changes retailers.
async fn lock(tx: &Tx) -> Result<(), DbError> {
    tx.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
    Ok(())
}

/// Forgets retailers of less than two stores, and proposals about stores of one retailer.
async fn forget_needless(tx: &Tx) -> Result<(), DbError> {
    forget_empty(tx).await?;
    tx.execute(sql!("retailers/settle.sql"), &[]).await?;
    Ok(())
}

async fn forget_empty(tx: &Tx) -> Result<(), DbError> {
    tx.execute(sql!("retailers/forget_empty.sql"), &[]).await?;
    Ok(())
}

rows! {
    Retailer { id, name, state, stores: document }
    RetailerProposal { rank, stores: document, evidence }
    DecidedStore { name, state, retailer_id }
    ImportedLicences { added, changed }
}
