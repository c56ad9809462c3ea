//! `change_batches` and `product_changes`: the changes that crawls bring, one batch a crawl.
//!
//! A refresh adds its batch in its own transaction, and a publisher numbers batches once they are committed
//! ([`publisher`]): numbers that were given before a commit would become visible out of order, and a reader that asks for
//! greater ones would miss some. `domain/menu/changes` decides what has changed.

pub mod feed;
pub mod publisher;
pub mod rules;

use std::borrow::Cow;
use std::time::Duration;

use crate::connection::copy::copy_in;
use crate::statements::{columns, first_column, named, sql};
use crate::{Client, DbError, Tx};
use domain::menu::changes::Change;
use domain::menu::product::ProductId;
use domain::payload::Payload;

/// A change with the product or option that it is of.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangeLine<'a> {
    pub product_id: ProductId,
    /// Label and number of the option; None: a change of the product.
    pub option: Option<(Cow<'a, str>, i16)>,
    pub change: Change,
}

columns! {
    "product_changes", (n, line): (i32, ChangeLine<'_>), payload: Payload;
    new {
        crawl_id: INT8 = payload.id,
        store_product_id: INT8 = line.product_id,
        crawled_at: TIMESTAMPTZ = payload.fetched_at,
        n: INT4 = n,
        // an enum, which is written as its word
        kind: TEXT = line.change.kind.name(),
        old_rec: INT4 = line.change.old.rec,
        new_rec: INT4 = line.change.new.rec,
        old_med: INT4 = line.change.old.med,
        new_med: INT4 = line.change.new.med,
        old_special_rec: INT4 = line.change.old.special_rec,
        new_special_rec: INT4 = line.change.new.special_rec,
        old_special_med: INT4 = line.change.old.special_med,
        new_special_med: INT4 = line.change.new.special_med,
        old_quantity: INT4 = line.change.old.quantity,
        new_quantity: INT4 = line.change.new.quantity,
        cents: INT4 = line.change.cents,
        percent: FLOAT4 = line.change.percent.map(|percent| percent as f32),
        nth: INT2 = line.option.as_ref().map(|(_, nth)| *nth),
        old_quantity_censored: BOOL = line.change.old.quantity_censored.then_some(true),
        new_quantity_censored: BOOL = line.change.new.quantity_censored.then_some(true),
        option_label: TEXT = line.option.as_ref().map(|(label, _)| label.as_ref()),
    }
}

/// Records the crawl as the one that later ones of its store are compared with.
pub async fn add_baseline(tx: &Tx, payload: &Payload) -> Result<(), DbError> {
    add_batch(tx, payload, 0, true).await.map(drop)
}

/// Adds the changes of a crawl, in this order. A crawl whose changes are there already adds none.
pub async fn add(tx: &Tx, payload: &Payload, lines: Vec<ChangeLine<'_>>) -> Result<(), DbError> {
    let numbered: Vec<(i32, ChangeLine<'_>)> = (0..).zip(lines).collect();
    let count = i32::try_from(numbered.len()).unwrap_or(i32::MAX);
    if count > 0 && add_batch(tx, payload, count, false).await? {
        copy_in(tx, payload, &numbered).await?;
    }
    Ok(())
}

/// False where the crawl has a batch.
async fn add_batch(tx: &Tx, payload: &Payload, count: i32, baseline: bool) -> Result<bool, DbError> {
    let Payload { id: crawl, dispensary_id: store, fetched_at: crawled_at, .. } = payload;
    let added = named!(tx.execute("changes/add_batch.sql", crawl, store, crawled_at, count, baseline)).await?;
    Ok(added > 0)
}

/// Removes at most `limit` published batches that are older than `age`; returns their number. Their lines go with the
/// month.
pub async fn prune(client: &Client, age: Duration, limit: i64) -> Result<u64, DbError> {
    let removed: i64 =
        first_column(&client.query_one(sql!("changes/prune.sql"), &[&age.as_secs_f64(), &limit]).await?)?;
    Ok(removed.unsigned_abs())
}
