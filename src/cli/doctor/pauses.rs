//! Checks the pauses in force. In: the database. Out: one finding, which names the commands that end them;
//! none without a pause.

use super::{Finding, unread};
use crate::cli::{pause, time};
use contract::pauses::Pause;
use db::{Db, tasks};

/// Maximum number of pauses that are named.
const MAX_NAMED: usize = 3;

pub async fn check(db: &Db) -> Option<Finding> {
    let read = async { tasks::pauses::list(&db.client().await?).await };
    match read.await {
        Ok(pauses) => finding(&pauses),
        Err(error) => Some(unread("pauses", &error)),
    }
}

/// `pauses`: the widest scope first.
fn finding(pauses: &[Pause]) -> Option<Finding> {
    let named = &pauses[..pauses.len().min(MAX_NAMED)];
    if named.is_empty() {
        return None;
    }
    let mut texts: Vec<String> = named.iter().map(text).collect();
    if pauses.len() > named.len() {
        texts.push(format!("{} more; see `drover pause`", pauses.len() - named.len()));
    }
    let commands: Vec<String> =
        named.iter().map(|pause| format!("`drover resume {}`", pause::arguments(pause))).collect();
    Some(Finding::advice("pauses", texts.join("; "), format!("end a pause with {}", commands.join(" or "))))
}

fn text(pause: &Pause) -> String {
    let until = pause.until.map(|until| format!(" until {}", time(until))).unwrap_or_default();
    format!("{} is paused{until} ({})", pause.target(), pause.reason)
}
