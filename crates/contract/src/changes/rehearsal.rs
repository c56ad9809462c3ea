//! `Rehearsal`: the messages that a rule would have sent about changes of the past. Pure.
//!
//! In: changes in the order of the feed. Out: messages, as if each crawl had been notified at its own time.

use std::collections::HashMap;

use chrono::{DateTime, TimeDelta, Utc};

use super::ChangeView;
use super::messages::ChangeMessage;
use crate::media::change_rules::ChangeRule;
use domain::menu::product::ProductId;

pub struct Rehearsal<'a> {
    rule: &'a ChangeRule,
    messages: Vec<ChangeMessage>,
    /// Time of the last message about each product.
    notified: HashMap<ProductId, DateTime<Utc>>,
    /// Changes of the next digest, and the time from which it may be sent.
    gathered: Vec<ChangeView>,
    due: Option<DateTime<Utc>>,
}

impl<'a> Rehearsal<'a> {
    pub fn new(rule: &'a ChangeRule) -> Rehearsal<'a> {
        Rehearsal { rule, messages: Vec::new(), notified: HashMap::new(), gathered: Vec::new(), due: None }
    }

    /// Adds the next changes.
    pub fn add(&mut self, changes: Vec<ChangeView>) {
        let quiet = TimeDelta::minutes(self.rule.quiet_minutes.into());
        let mut told = changes;
        told.retain(|change| {
            let last = self.notified.get(&change.product_id);
            let is_told = last.is_none_or(|last| *last == change.crawled_at || change.crawled_at >= *last + quiet);
            if is_told {
                self.notified.insert(change.product_id, change.crawled_at);
            }
            is_told
        });
        match self.rule.interval() {
            None => self.messages.extend(ChangeMessage::of_crawls(self.rule, told)),
            Some(interval) => told.into_iter().for_each(|change| self.gather(change, interval)),
        }
    }

    fn gather(&mut self, change: ChangeView, interval: TimeDelta) {
        let is_of_next = self.gathered.last().is_none_or(|last| last.crawled_at != change.crawled_at);
        if is_of_next && self.due.is_none_or(|due| change.crawled_at >= due) {
            self.send_digest();
            self.due = Some(change.crawled_at + interval);
        }
        self.gathered.push(change);
    }

    fn send_digest(&mut self) {
        let digest = ChangeMessage::digest(self.rule, std::mem::take(&mut self.gathered), 0);
        self.messages.extend(digest);
    }

    pub fn len(&self) -> usize {
        self.messages.len()
    }

    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// The messages so far; the last digest may lack changes that are still to come.
    pub fn messages(mut self) -> Vec<ChangeMessage> {
        self.send_digest();
        self.messages
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn rule(digest: &str, quiet_minutes: i32) -> ChangeRule {
        serde_json::from_value(
            json!({"id": 7, "name": "drops", "endpoint_id": 1, "kinds": ["price_drop"], "digest": digest,
            "quiet_minutes": quiet_minutes, "enabled": true, "created_at": "2025-01-10T08:00:00Z"}),
        )
        .unwrap()
    }

    fn change(minute: i64, product: i64) -> ChangeView {
        let at = DateTime::from_timestamp(minute * 60, 0).unwrap();
        let change: Value = json!({"cursor": format!("{minute}-{product}"), "kind": "gone", "store_id": 1, "store": "North",
            "product_id": product, "product": "a", "brand": null, "category": null, "option": null, "old": null, "new": null,
            "cents": null, "percent": null, "crawled_at": at, "text": ""});
        serde_json::from_value(change).unwrap()
    }

    #[rstest]
    #[case::at_once("none", 0, &[2, 1, 1, 1])]
    #[case::quiet_for_an_hour("none", 60, &[2, 1])]
    #[case::hourly("hourly", 0, &[4, 1])]
    #[case::daily("daily", 0, &[5])]
    fn messages_are_those_of_the_past(#[case] digest: &str, #[case] quiet: i32, #[case] counts: &[usize]) {
        let rule = rule(digest, quiet);
        let mut rehearsal = Rehearsal::new(&rule);
        rehearsal.add(vec![change(0, 1), change(0, 2), change(10, 1)]);
        rehearsal.add(vec![change(50, 2), change(60, 1)]);
        let messages = rehearsal.messages();
        assert_eq!(messages.iter().map(|message| message.count).collect::<Vec<_>>(), counts);
    }
}
