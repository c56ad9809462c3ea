//! `change_rules` at work: each rule follows the feed from its own place, and its notifications are written in the
//! transaction that moves it on. So each change is notified once, whoever dies when.

use std::collections::{BTreeSet, HashSet};

use tokio_postgres::types::Json;

use super::feed::{self, FeedPart, FeedRead};
use crate::statements::{FromRow, column, document, first_columns, named, rows, sql};
use crate::{Client, Db, DbError, Tx};
use contract::changes::messages::ChangeMessage;
use contract::changes::rehearsal::Rehearsal;
use contract::changes::{ChangeLimit, ChangePlace, ChangeQuestion, ChangeView};
use contract::media::change_rules::ChangeRule;
use domain::menu::product::ProductId;

/// Maximum number of rules that one look moves on.
const MAX_RULES: i64 = 1_000;
/// Maximum number of changes that one part of the feed holds.
const PART: ChangeLimit = ChangeLimit(1_000);
/// Maximum number of parts that a digest reads, and of changes that it compares; further ones are counted.
const MAX_DIGEST_PARTS: usize = 200;
const MAX_DIGEST_CHANGES: usize = 5_000;
/// Maximum number of messages of a rehearsal, and of parts of the feed that it reads.
const MAX_REHEARSED: usize = 200;
const MAX_REHEARSED_PARTS: usize = 500;

/// Ids of the rules that have changes to look at, or, while disabled, a place to forget.
pub async fn due(client: &Client) -> Result<Vec<i64>, DbError> {
    first_columns(&client.query(sql!("changes/rules/due.sql"), &[&MAX_RULES]).await?)
}

/// Moves a rule on to the end of the feed, unless another process is at work on it; returns the number of notifications
/// that it wrote.
pub async fn follow(db: &Db, rule: i64) -> Result<usize, DbError> {
    let mut written = 0;
    loop {
        let tx = db.begin().await?;
        let Some(locked) = lock(&tx, rule).await? else { return Ok(written) };
        if !locked.is_enabled {
            tx.execute(sql!("changes/rules/forget_place.sql"), &[&rule]).await?;
            tx.commit().await?;
            return Ok(written);
        }
        let step = Step::next(&tx, locked).await?;
        notify(&tx, rule, &step).await?;
        tx.commit().await?;
        written += step.messages.len();
        if step.is_newest {
            return Ok(written);
        }
    }
}

/// The messages that a rule would have sent about the changes behind `place`.
#[derive(Debug)]
pub struct Rehearsed {
    pub messages: Vec<ChangeMessage>,
    /// Whether there would have been more.
    pub is_cut: bool,
}

pub async fn rehearse(client: &Client, rule: &ChangeRule, place: ChangePlace) -> Result<Rehearsed, DbError> {
    let question = ChangeQuestion { limit: PART, ..rule.question() };
    let (mut place, mut rehearsal, mut is_cut) = (place, Rehearsal::new(rule), true);
    for _ in 0..MAX_REHEARSED_PARTS {
        let part = part(client, &place, &question).await?;
        rehearsal.add(part.changes);
        place = part.next;
        is_cut = !part.is_end;
        if part.is_end || rehearsal.len() > MAX_REHEARSED {
            break;
        }
    }
    let mut messages = rehearsal.messages();
    is_cut |= messages.len() > MAX_REHEARSED;
    messages.truncate(MAX_REHEARSED);
    Ok(Rehearsed { messages, is_cut })
}

/// Removes at most `limit` notes of products about which rules are not quiet any more; returns their number.
pub async fn prune(client: &Client, limit: i64) -> Result<u64, DbError> {
    client.execute(sql!("changes/rules/prune.sql"), &[&limit]).await
}

/// A rule that this transaction moves on.
struct LockedRule {
    rule: ChangeRule,
    is_enabled: bool,
    place: ChangePlace,
}

/// One transaction's work on a rule.
struct Step {
    messages: Vec<ChangeMessage>,
    next: ChangePlace,
    is_newest: bool,
}

impl Step {
    async fn next(tx: &Tx, LockedRule { rule, place, .. }: LockedRule) -> Result<Step, DbError> {
        let question = ChangeQuestion { limit: PART, ..rule.question() };
        match rule.interval() {
            None => {
                let FeedPart { mut changes, next, is_end } = part(tx, &place, &question).await?;
                leave_out_quiet(tx, &rule, &mut changes).await?;
                Ok(Step { messages: ChangeMessage::of_crawls(&rule, changes), next, is_newest: is_end })
            }
            Some(_) => Step::digest(tx, &rule, place, &question).await,
        }
    }

    async fn digest(
        tx: &Tx,
        rule: &ChangeRule,
        mut place: ChangePlace,
        question: &ChangeQuestion,
    ) -> Result<Step, DbError> {
        let (mut gathered, mut left_out) = (Vec::new(), 0);
        for _ in 0..MAX_DIGEST_PARTS {
            let FeedPart { mut changes, next, is_end } = part(tx, &place, question).await?;
            leave_out_quiet(tx, rule, &mut changes).await?;
            let room = MAX_DIGEST_CHANGES.saturating_sub(gathered.len());
            left_out += changes.len().saturating_sub(room);
            gathered.extend(changes.into_iter().take(room));
            place = next;
            if is_end {
                break;
            }
        }
        // what is left belongs to the next digest
        let messages = ChangeMessage::digest(rule, gathered, left_out).into_iter().collect();
        Ok(Step { messages, next: place, is_newest: true })
    }
}

/// The next part of the feed; a place that retention has passed moves to where the feed begins.
async fn part(client: &Client, place: &ChangePlace, question: &ChangeQuestion) -> Result<FeedPart, DbError> {
    match feed::read_on(client, place, question).await? {
        FeedRead::Part(part) => Ok(part),
        FeedRead::Expired { removed } => {
            let next = ChangePlace { seq: removed, n: i32::MAX, ..place.clone() };
            Ok(FeedPart { changes: Vec::new(), next, is_end: false })
        }
    }
}

async fn lock(tx: &Tx, rule: i64) -> Result<Option<LockedRule>, DbError> {
    let row = tx.query_opt(sql!("changes/rules/lock.sql"), &[&rule]).await?;
    row.as_ref().map(LockedRule::from_row).transpose()
}

/// Leaves out the changes of products of which the rule has notified a short time ago.
async fn leave_out_quiet(tx: &Tx, rule: &ChangeRule, changes: &mut Vec<ChangeView>) -> Result<(), DbError> {
    if rule.quiet_minutes == 0 || changes.is_empty() {
        return Ok(());
    }
    let products: BTreeSet<ProductId> = changes.iter().map(|change| change.product_id).collect();
    let products: Vec<ProductId> = products.into_iter().collect();
    let told = first_columns(&tx.query(sql!("changes/rules/quiet.sql"), &[&rule.id, &products]).await?)?;
    let told: HashSet<ProductId> = told.into_iter().collect();
    changes.retain(|change| told.contains(&change.product_id));
    Ok(())
}

async fn notify(tx: &Tx, rule: i64, Step { messages, next, .. }: &Step) -> Result<(), DbError> {
    let subjects = column(messages, ChangeMessage::subject);
    let bodies = column(messages, Json);
    let ChangePlace { seq, n, .. } = next;
    named!(tx.execute("changes/rules/notify.sql", rule, seq, n, subjects, bodies)).await.map(drop)
}

rows! {
    LockedRule {
        rule: document,
        is_enabled,
        place: row,
    }
}
