//! The feed of published changes, as readers follow it.
//!
//! In: a place in the feed and a filter. Out: the changes behind it, in an order that is the same for all readers and never
//! changes, or those in front of it, backwards. One answer reads a bounded part of the feed, however few changes the filter leaves.

use chrono::{DateTime, Utc};
use tokio_postgres::Row;

use crate::statements::{FromRow, column, named, rows, sql, word};
use crate::{Client, DbError};
use contract::age_sort::AgeSort;
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
    /// The place of the last change, or beyond everything that was read.
    pub next: ChangePlace,
    /// Whether there was nothing more to read.
    pub is_end: bool,
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
    let ChangePlace { seq, n, .. } = place;
    // a batch that was read whole takes no room
    let first = if *n == i32::MAX { seq.saturating_add(1) } else { *seq };
    let window = Window::read(client, AgeSort::Oldest, first, question).await?;
    if first <= window.removed {
        return Ok(FeedRead::Expired { removed: window.removed });
    }
    let until = window.greatest.filter(|_| window.is_cut).unwrap_or(window.newest);
    if until < first {
        return Ok(FeedRead::Part(FeedPart { changes: Vec::new(), next: place.clone(), is_end: true }));
    }
    let Lines { changes, last } = Lines::read(client, AgeSort::Oldest, place, (*seq, until), question).await?;
    let read = ChangePlace { seq: until.max(*seq), n: i32::MAX, ..place.clone() };
    let is_end = last.is_none() && until >= window.newest;
    Ok(FeedRead::Part(FeedPart { changes, next: last.unwrap_or(read), is_end }))
}

/// The changes in front of `place` that fit the question, the newest first, in batches behind the one with the number
/// `begin`.
pub async fn read_back(
    client: &Client,
    place: &ChangePlace,
    begin: i64,
    question: &ChangeQuestion,
) -> Result<FeedPart, DbError> {
    let begin = begin.saturating_add(1);
    let first = if place.n == 0 { place.seq.saturating_sub(1) } else { place.seq };
    let window = Window::read(client, AgeSort::Newest, first, question).await?;
    let until = window.least.filter(|_| window.is_cut).unwrap_or(begin).max(begin);
    let Lines { changes, last } = Lines::read(client, AgeSort::Newest, place, (until, first), question).await?;
    let is_end = last.is_none() && until == begin;
    let read = ChangePlace { seq: until, n: 0, ..place.clone() };
    Ok(FeedPart { changes, next: last.unwrap_or(read), is_end })
}

/// Batches that one answer reads.
struct Window {
    newest: i64,
    removed: i64,
    /// Numbers of the first and last batch in it; None where there is none.
    least: Option<i64>,
    greatest: Option<i64>,
    /// Whether there may be batches beyond it.
    is_cut: bool,
}

impl Window {
    /// A window that begins with the batch of this number.
    async fn read(client: &Client, sort: AgeSort, first: i64, question: &ChangeQuestion) -> Result<Window, DbError> {
        let changes = if question.leaves_out_lines() { MAX_CHANGES } else { question.limit.0 };
        let rows = named!(client.query_planned(
            by_age("changes/window.sql", sort),
            first,
            store = question.store,
            batches = MAX_BATCHES,
            changes
        ))
        .await?;
        let window = rows.first().map(Window::from_row).transpose()?;
        window.ok_or_else(|| DbError::Other("change_feed has no row".to_owned()))
    }
}

/// Changes of one answer.
struct Lines {
    changes: Vec<ChangeView>,
    /// Place of the last one, where there may be more; None: all were read.
    last: Option<ChangePlace>,
}

impl Lines {
    /// The changes beyond `place` in batches with numbers from `least` to `greatest`.
    async fn read(
        client: &Client,
        sort: AgeSort,
        place: &ChangePlace,
        (least, greatest): (i64, i64),
        question: &ChangeQuestion,
    ) -> Result<Lines, DbError> {
        let ChangePlace { seq, n, .. } = place;
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
        let kinds = question.kind.as_ref().map(|kinds| column(kinds, |kind| kind.name()));
        let found = named!(client.query_planned(
            by_age("changes/list.sql", sort),
            seq,
            n,
            least,
            greatest,
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
        let is_full = found.len() as i64 >= limit.0;
        let last = found.last().filter(|_| is_full).map(|row| place_of(row, place)).transpose()?;
        let change = |row: &Row| {
            let cursor = Position(place_of(row, place)?).text();
            Ok::<_, DbError>(ChangeView { cursor, ..ChangeView::from_row(row)? }.in_words())
        };
        Ok(Lines { changes: found.iter().map(change).collect::<Result<_, _>>()?, last })
    }
}

/// The place of a change in the feed of `of`.
fn place_of(row: &Row, of: &ChangePlace) -> Result<ChangePlace, DbError> {
    Ok(ChangePlace { seq: row.try_get("seq")?, n: row.try_get("n")?, ..of.clone() })
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

    Window { newest, removed, least, greatest, is_cut }

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
