//! The feed of published changes, as readers follow it.
//!
//! In: a place in the feed and a filter. Out: the changes behind it, in an order that is the same for all readers and never
//! changes. One answer reads a bounded part of the feed, however few changes the filter leaves.

use chrono::{DateTime, Utc};
use tokio_postgres::Row;

use crate::statements::{FromRow, column, named, rows, sql, word};
use crate::{Client, DbError};
use contract::changes::{ChangePlace, ChangeQuestion, ChangeView, ChangedOption};
use contract::position::Position;
use domain::menu::changes::ChangeSide;

/// Maximum number of batches that one answer reads.
const MAX_BATCHES: i64 = 1_000;
/// Number of changes at which one answer reads no further batch, where a filter may leave few of them.
const MAX_CHANGES: i64 = 20_000;

/// A part of the feed, in a reader's eyes.
#[derive(Clone, Debug, PartialEq)]
pub struct FeedPart {
    pub changes: Vec<ChangeView>,
    /// The place behind the last change, or behind everything that was read.
    pub next: ChangePlace,
    /// Whether there was nothing more to read.
    pub is_newest: bool,
}

/// The result of reading on from a place.
#[derive(Clone, Debug, PartialEq)]
pub enum FeedRead {
    Part(FeedPart),
    /// Changes behind the place were removed by retention, up to the one with this number.
    Expired {
        removed: i64,
    },
}

/// The newest place.
pub async fn newest(client: &Client) -> Result<ChangePlace, DbError> {
    ChangePlace::from_row(&client.query_one(sql!("changes/newest.sql"), &[]).await?)
}

/// The place before the changes since a time.
pub async fn begun_at(client: &Client, time: DateTime<Utc>) -> Result<ChangePlace, DbError> {
    ChangePlace::from_row(&client.query_one(sql!("changes/begun_at.sql"), &[&time]).await?)
}

/// The changes behind `place` that fit the question.
pub async fn read_on(client: &Client, place: &ChangePlace, question: &ChangeQuestion) -> Result<FeedRead, DbError> {
    let ChangePlace { installation, seq, n } = place;
    let ChangeQuestion {
        store,
        group,
        state,
        brand,
        category,
        product,
        min_percent,
        min_cents,
        max_price,
        max_unit_price,
        limit,
        ..
    } = question;
    let changes = if question.leaves_out_lines() { MAX_CHANGES } else { limit.0 };
    // a batch that was read whole takes no room
    let first = if *n == i32::MAX { seq.saturating_add(1) } else { *seq };
    let window =
        named!(client.query_planned("changes/window.sql", first, store, batches = MAX_BATCHES, changes)).await?;
    let Some(Window { newest, removed, until }) = window.first().map(Window::from_row).transpose()? else {
        return Err(DbError::Other("change_feed has no row".to_owned()));
    };
    let read_whole = if *n == i32::MAX { *seq } else { seq - 1 };
    if read_whole < removed {
        return Ok(FeedRead::Expired { removed });
    }
    if until < first {
        return Ok(FeedRead::Part(FeedPart { changes: Vec::new(), next: place.clone(), is_newest: true }));
    }
    let kinds = question.kind.as_ref().map(|kinds| column(kinds, |kind| kind.name()));
    let found = named!(client.query_planned(
        "changes/list.sql",
        seq,
        n,
        until,
        kinds,
        store,
        group,
        state,
        brand,
        category,
        min_percent,
        min_cents,
        product,
        max_price,
        max_unit_price,
        limit = limit.0
    ))
    .await?;
    let place_of = |row: &Row| -> Result<ChangePlace, DbError> {
        Ok(ChangePlace { installation: installation.clone(), seq: row.try_get("seq")?, n: row.try_get("n")? })
    };
    let change = |row: &Row| {
        let cursor = Position(place_of(row)?).text();
        Ok::<_, DbError>(ChangeView { cursor, ..ChangeView::from_row(row)? }.in_words())
    };
    let is_full = found.len() as i64 == limit.0;
    let read = ChangePlace { installation: installation.clone(), seq: until.max(*seq), n: i32::MAX };
    let next = found.last().filter(|_| is_full).map(place_of).transpose()?.unwrap_or(read);
    let changes = found.iter().map(change).collect::<Result<_, _>>()?;
    Ok(FeedRead::Part(FeedPart { changes, next, is_newest: !is_full && until >= newest }))
}

struct Window {
    newest: i64,
    removed: i64,
    /// Number of the last batch that the answer reads.
    until: i64,
}

/// None for a change of the product.
fn option(row: &Row, label: &str) -> Result<Option<ChangedOption>, DbError> {
    let (label, nth): (Option<String>, Option<i16>) = (row.try_get(label)?, row.try_get("nth")?);
    Ok(label.zip(nth).map(|(label, nth)| ChangedOption { label, nth }))
}

/// The columns that begin with `prefix`; none where they say nothing.
pub(crate) fn side(row: &Row, prefix: &str) -> Result<Option<ChangeSide>, DbError> {
    let number = |name: &str| row.try_get::<_, Option<i32>>(format!("{prefix}{name}").as_str());
    let is_censored: Option<bool> = row.try_get(format!("{prefix}quantity_censored").as_str())?;
    let side = ChangeSide {
        rec: number("rec")?,
        med: number("med")?,
        special_rec: number("special_rec")?,
        special_med: number("special_med")?,
        quantity: number("quantity")?,
        quantity_censored: is_censored == Some(true),
    };
    Ok((side != ChangeSide::default()).then_some(side))
}

rows! {
    ChangePlace { installation, seq, n }

    Window { newest, removed, until }

    ChangeView {
        cursor = String::new(),
        kind: word,
        store_id, store, product_id, product, brand, category,
        option: option("option_label"),
        old: side("old_"),
        new: side("new_"),
        cents, percent, crawled_at,
        text = String::new(),
    }
}
