//! Lists that one statement would find slowly. `q`, the beginning of an id, of a worker's id or of a store's
//! slug, becomes one search for each of the three, since no index serves all of them at once. A part of an
//! error is searched in the newest errors one by one, and by trigrams in the others: a common part fills its
//! page from the newest, a rare one matches few of the others.
//!
//! In: a filter. Out: its tasks, in the filter's order. It must not know how a task is displayed.

use std::cmp::Reverse;
use std::ops::Range;

use super::filter::FilterValues;
use crate::statements::{first_column, first_columns, named, read_all, sql};
use crate::{Client, DbError};
use contract::age_sort::AgeSort;
use contract::tasks::{TaskFilter, TaskView};
use domain::store::StoreId;
use domain::task::TaskId;

/// Maximum stores whose slugs have the same beginning; tasks of further ones are not found.
const MAX_STORES: i64 = 1_000;
/// Number of the newest tasks with an error that are searched one by one.
const NEWEST_ERRORS: i64 = 2_000;
/// Minimum length: shorter texts have no trigrams.
const MIN_TRIGRAM_CHARS: usize = 3;

/// Lists at most `limit` tasks that the filter finds, in its order.
pub(super) async fn list(client: &Client, filter: &TaskFilter, q: &str, limit: i64) -> Result<Vec<TaskView>, DbError> {
    let most = usize::try_from(limit).unwrap_or(usize::MAX);
    let values = FilterValues { q: None, ..FilterValues::of(filter) };
    let mut found = by_id(client, &values, q, limit).await?;
    let worker = FilterValues { worker_pattern: Some(format!("{}%", escaped(q))), ..values.clone() };
    found.extend(page(client, &worker, limit).await?);
    let slugs = client.query(sql!("tasks/views/stores_by_slug.sql"), &[&q, &MAX_STORES]).await?;
    let stores: Vec<StoreId> = first_columns(&slugs)?;
    if !stores.is_empty() {
        found.extend(page(client, &FilterValues { stores: Some(stores), ..values }, limit).await?);
    }
    match filter.sort {
        AgeSort::Newest => found.sort_by_key(|task| Reverse(task.id)),
        AgeSort::Oldest => found.sort_by_key(|task| task.id),
    }
    found.dedup_by_key(|task| task.id);
    found.truncate(most);
    Ok(found)
}

/// One search without a `q`.
pub(super) async fn page(client: &Client, values: &FilterValues<'_>, limit: i64) -> Result<Vec<TaskView>, DbError> {
    let Some(error) = trigrams_of_error(values) else {
        return rows(client, values, limit).await;
    };
    let by_trigrams = FilterValues { error_pattern: Some(format!("%{}%", escaped(error))), ..values.clone() };
    if values.filter.sort == AgeSort::Oldest {
        return rows(client, &by_trigrams, limit).await;
    }
    let Some(oldest) = oldest_of_newest_errors(client, values).await? else {
        return rows(client, values, limit).await;
    };
    let newest = FilterValues { from: Some(oldest), ..values.clone() };
    let mut found = rows(client, &newest, limit).await?;
    let missing = limit - found.len() as i64;
    if missing > 0 {
        let others = FilterValues { below: Some(oldest), ..by_trigrams };
        found.extend(rows(client, &others, missing).await?);
    }
    Ok(found)
}

/// The searched part of an error, where trigrams find it.
fn trigrams_of_error<'a>(values: &FilterValues<'a>) -> Option<&'a str> {
    let error = values.filter.error.as_deref()?;
    let is_beginning_of_id = values.from.is_some() && values.filter.sort == AgeSort::Newest;
    let is_narrow = is_beginning_of_id || values.filter.ids.is_some();
    (error.chars().count() >= MIN_TRIGRAM_CHARS && !is_narrow).then_some(error)
}

/// Returns none if fewer tasks than these have an error: one search is enough.
async fn oldest_of_newest_errors(client: &Client, values: &FilterValues<'_>) -> Result<Option<TaskId>, DbError> {
    let sql = sql!("tasks/views/oldest_of_newest_errors.sql");
    let row = client.query_opt(sql, &[&values.below, &NEWEST_ERRORS]).await?;
    row.map(|row| first_column(&row)).transpose()
}

async fn rows(client: &Client, values: &FilterValues<'_>, limit: i64) -> Result<Vec<TaskView>, DbError> {
    let sort = values.filter.sort;
    let rows = named!(client.query_planned(by_age("tasks/views/list.sql", sort), limit, ..FilterValues::clone(values)))
        .await?;
    read_all(&rows)
}

async fn by_id(client: &Client, values: &FilterValues<'_>, q: &str, limit: i64) -> Result<Vec<TaskView>, DbError> {
    let mut found = Vec::new();
    let mut ranges = ranges(q);
    if values.filter.sort == AgeSort::Oldest {
        ranges.reverse();
    }
    for ids in ranges {
        let below = values.below.map_or(ids.end, |below| below.min(ids.end));
        let from = values.from.map_or(ids.start, |from| from.max(ids.start));
        let part = FilterValues { from: Some(from), below: Some(below), ..values.clone() };
        found.extend(page(client, &part, limit).await?);
        if found.len() as i64 >= limit {
            break;
        }
    }
    Ok(found)
}

/// The ranges of the ids that begin with these digits, the greatest first.
fn ranges(q: &str) -> Vec<Range<TaskId>> {
    let Ok(first) = q.parse::<TaskId>() else { return Vec::new() };
    // in any other notation, such as with a sign, no id has this beginning
    if first.to_string() != q || first < 0 {
        return Vec::new();
    }
    let mut ranges = Vec::new();
    let mut scale: TaskId = 1;
    while let Some(start) = first.checked_mul(scale) {
        ranges.push(start..start.saturating_add(scale));
        match scale.checked_mul(10).filter(|_| first > 0) {
            Some(next) => scale = next,
            None => break,
        }
    }
    ranges.reverse();
    ranges
}

/// Escapes a text for LIKE.
fn escaped(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len() + 2);
    for letter in text.chars() {
        if matches!(letter, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::no_number("a1", false)]
    #[case::a_sign("+1", false)]
    #[case::negative("-1", false)]
    #[case::a_leading_zero("01", false)]
    #[case::empty("", false)]
    #[case::a_number("1", true)]
    #[case::beyond_all_ids("99999999999999999999", false)]
    fn only_digits_begin_ids(#[case] q: &str, #[case] finds: bool) {
        assert_eq!(!ranges(q).is_empty(), finds);
    }

    #[test]
    fn what_like_means_otherwise_is_escaped() {
        assert_eq!(escaped(r"a%b_c\d"), r"a\%b\_c\\d");
    }

    proptest! {
        #[test]
        fn an_id_is_in_a_range_when_it_begins_so(q in 0i64..100_000, id in 0i64..10_000_000) {
            let is_in = ranges(&q.to_string()).iter().any(|range| range.contains(&id));
            prop_assert_eq!(is_in, id.to_string().starts_with(&q.to_string()));
        }

        #[test]
        fn ranges_descend_and_do_not_meet(q in 1i64..i64::MAX) {
            let ranges = ranges(&q.to_string());
            prop_assert!(ranges.windows(2).all(|pair| pair[1].end <= pair[0].start));
        }
    }
}
