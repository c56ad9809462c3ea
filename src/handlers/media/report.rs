//! `Report`: a monitor's polls until now: how many there were, how many failed, and what their saves counted.
//!
//! In: polls, as they are saved. Out: how the job ends. One poll that fails does not fail the job; where all
//! fail, it is retried, and where a service is not to be asked for a time, it waits. It must not know what is polled.

use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};

use super::wait::Wait;
use crate::handlers::Context;
use ::media::clients::Odd;
use db::{DbError, Tx};
use domain::task::role::Role;
use queue::{Outcome, SaveError, TaskError, WriteResults};

/// The polls of some things, which are saved together.
pub trait Poll: Send + Sync {
    /// One for each that failed.
    fn reasons(&self) -> Vec<String>;

    /// How many of its failures stay, whatever is tried again.
    fn lasting(&self) -> usize {
        0
    }

    /// Elements of its answers that could not be read, beside others that could.
    fn odd(&self) -> Odd {
        Odd::default()
    }

    /// Its numbers are the fields of the result.
    fn write<'a>(&'a self, tx: &'a Tx) -> BoxFuture<'a, Result<WriteResults, DbError>>;
}

pub struct Report {
    begun: Instant,
    max_time: Duration,
    /// Things that the next job begins with.
    left: usize,
    /// Things that earlier runs of the job have polled.
    earlier: usize,
    /// Things that are polled: `channels`.
    noun: &'static str,
    polled: usize,
    failed: usize,
    /// Failures that stay.
    lasting: usize,
    /// The first reason of a failure.
    reason: Option<String>,
    /// The shortest wait.
    wait: Option<Wait>,
    odd: Odd,
    /// Numbers of the saves, by their names.
    counts: Map<String, Value>,
}

impl Report {
    /// The report of a job of `role` that begins now. `counts` are in the result also where nothing was counted.
    pub fn new(role: Role, noun: &'static str, counts: &[&str]) -> Report {
        let counts = counts.iter().map(|name| ((*name).to_owned(), json!(0))).collect();
        let max_time = role.time_limit() * 4 / 5;
        Report {
            begun: Instant::now(),
            max_time,
            left: 0,
            earlier: 0,
            noun,
            polled: 0,
            failed: 0,
            lasting: 0,
            reason: None,
            wait: None,
            odd: Odd::default(),
            counts,
        }
    }

    /// Counts what earlier runs of the job have polled, which has waited since: for each thing, why it failed.
    pub fn resume(&mut self, earlier: impl IntoIterator<Item = Option<String>>) {
        for failure in earlier {
            self.earlier += 1;
            self.polled += 1;
            self.failed += usize::from(failure.is_some());
            self.reason = self.reason.take().or(failure);
        }
    }

    /// Shows that `before` of `total` things were polled. False: the time of the job is over, and the rest is
    /// left for the next one.
    pub async fn goes_on(&mut self, ctx: &Context, before: usize, total: usize) -> bool {
        if self.begun.elapsed() >= self.max_time {
            // the first answer counts: a thing that was begun is left, too
            if self.left == 0 {
                self.left = total - before;
            }
            return false;
        }
        let (before, total) = (self.earlier + before, self.earlier + total);
        let percent = u8::try_from(100 * before / total.max(1)).ok();
        ctx.progress(percent, format!("{before} of {total} {}", self.noun)).await;
        true
    }

    /// Saves the polls of some things, and counts them.
    pub async fn save(&mut self, ctx: &Context, things: usize, poll: impl Poll) -> Result<(), SaveError> {
        let reasons = poll.reasons();
        self.lasting += poll.lasting();
        self.odd.add(poll.odd());
        let saved = ctx.save(poll, |poll, tx| poll.write(tx)).await?;
        self.add(things, &reasons, &saved);
        Ok(())
    }

    /// The job waits at its end, for what was left out.
    pub fn wait(&mut self, wait: Wait) {
        self.wait = Some(wait.min(self.wait.take()));
    }

    /// `reasons` has one for each poll that failed.
    fn add(&mut self, polled: usize, reasons: &[String], saved: &WriteResults) {
        self.polled += polled;
        self.failed += reasons.len();
        self.reason = self.reason.take().or_else(|| reasons.first().cloned());
        for (name, count) in &saved.result {
            let before = self.counts.get(name).and_then(Value::as_u64).unwrap_or_default();
            self.counts.insert(name.clone(), json!(before + count.as_u64().unwrap_or_default()));
        }
    }

    pub fn outcome(self) -> Result<Outcome, TaskError> {
        let Report { left, noun, polled, failed, lasting, reason, wait, odd, counts, .. } = self;
        if let Some(wait) = wait {
            return Err(wait.into());
        }
        if let Some(reason) = reason.filter(|_| failed == polled && left == 0) {
            let reason = format!("none of {polled} {noun} was read; the first: {reason}");
            return Err(if lasting == polled { TaskError::permanent(reason) } else { TaskError::retry(reason) });
        }
        let mut result = json!({ noun: polled, "failed": failed });
        if let Value::Object(fields) = &mut result {
            fields.extend(counts);
            if left > 0 {
                fields.insert("left".to_owned(), json!(left));
            }
            if odd.count > 0 {
                fields.insert("odd".to_owned(), json!(odd.count));
                fields.insert("odd_elements".to_owned(), json!(odd.names));
            }
        }
        Ok(Outcome::done(result).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saved(new: u64) -> WriteResults {
        WriteResults { result: Map::from_iter([("new".to_owned(), json!(new))]), ..WriteResults::default() }
    }

    #[test]
    fn numbers_of_saves_are_added_up() {
        let mut report = Report::new(Role::YoutubeMonitor, "channels", &["new", "gaps"]);
        report.add(2, &["away".to_owned()], &saved(3));
        report.add(1, &[], &saved(4));
        let Ok(Outcome::Done(done)) = report.outcome() else { panic!("it is not done") };
        assert_eq!(done.result, json!({"channels": 3, "failed": 1, "new": 7, "gaps": 0}));
    }

    #[test]
    fn a_job_of_which_every_poll_fails_is_retried_with_the_first_reason() {
        let mut report = Report::new(Role::YoutubeMonitor, "channels", &[]);
        report.add(1, &["away".to_owned()], &saved(0));
        report.add(1, &["strange".to_owned()], &saved(0));
        let error = report.outcome().err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some("none of 2 channels was read; the first: away"));
    }

    #[test]
    fn a_job_of_which_every_failure_stays_is_not_retried() {
        let mut report = Report::new(Role::ForumScrape, "threads", &[]);
        report.lasting = 2;
        report.add(2, &["no".to_owned(), "no".to_owned()], &saved(0));
        assert!(matches!(report.outcome(), Err(TaskError::Permanent { .. })));
    }

    #[test]
    fn what_an_earlier_run_has_polled_counts() {
        let mut report = Report::new(Role::YoutubeMonitor, "channels", &[]);
        report.resume([None, Some("away".to_owned())]);
        report.add(1, &["strange".to_owned()], &saved(0));
        let Ok(Outcome::Done(done)) = report.outcome() else { panic!("it is not done") };
        assert_eq!((&done.result["channels"], &done.result["failed"]), (&json!(3), &json!(2)));
    }

    #[test]
    fn what_is_left_is_in_the_result() {
        let mut report = Report::new(Role::YoutubeMonitor, "channels", &[]);
        report.add(1, &[], &saved(0));
        report.left = 4;
        let Ok(Outcome::Done(done)) = report.outcome() else { panic!("it is not done") };
        assert_eq!(done.result["left"], 4);
    }

    #[test]
    fn odd_elements_are_counted_and_named() {
        let mut report = Report::new(Role::YoutubeMonitor, "channels", &[]);
        report.add(1, &[], &saved(0));
        for name in ["a", "b"] {
            report.odd.add(Odd { count: 2, names: vec![name.to_owned()] });
        }
        let Ok(Outcome::Done(done)) = report.outcome() else { panic!("it is not done") };
        assert_eq!((&done.result["odd"], &done.result["odd_elements"]), (&json!(4), &json!(["a", "b"])));
    }

    #[test]
    fn nothing_to_poll_is_done() {
        assert!(Report::new(Role::YoutubeMonitor, "channels", &[]).outcome().is_ok());
    }
}
