//! Messages about changes: the `data` of a notification `products.changed`. Pure.
//!
//! In: changes that a rule asks for. Out: messages of a bounded size, in the order of the feed. It must not know who
//! sends them.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{ChangeView, ChangedOption, text};
use crate::media::change_rules::ChangeRule;

/// Maximum bytes of the changes of a message, as JSON without spaces: the database keeps 20 KiB with them.
const MAX_BYTES: usize = 14 << 10;
/// Maximum number of characters of a name in a message.
const MAX_NAME: usize = 200;

/// A message about the changes that a rule asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ChangeMessage {
    pub rule: RuleName,
    /// Number of changes, including the unlisted ones of a digest.
    pub count: usize,
    /// Whether there are more changes than are listed.
    pub is_cut: bool,
    /// Changes in the order of the feed; in a digest the largest changes of the price first. Names end after 200 characters.
    pub changes: Vec<ChangeView>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RuleName {
    pub id: i64,
    pub name: String,
}

impl ChangeMessage {
    /// The messages of a rule that is sent at once: one a crawl, or more where one would be too large.
    pub fn of_crawls(rule: &ChangeRule, changes: Vec<ChangeView>) -> Vec<ChangeMessage> {
        let mut messages: Vec<ChangeMessage> = Vec::new();
        let mut room = 0;
        for change in changes.into_iter().map(shortened) {
            let bytes = bytes(&change);
            let is_of =
                |message: &ChangeMessage| message.changes.last().is_some_and(|last| is_of_one_crawl(last, &change));
            match messages.last_mut().filter(|message| is_of(message) && bytes <= room) {
                Some(message) => {
                    message.changes.push(change);
                    message.count += 1;
                    room -= bytes;
                }
                None => {
                    messages.push(ChangeMessage { rule: name(rule), count: 1, is_cut: false, changes: vec![change] });
                    room = MAX_BYTES.saturating_sub(bytes);
                }
            }
        }
        messages
    }

    /// One message with the largest changes; `count` beside those is the number of changes that `changes` lacks.
    pub fn digest(rule: &ChangeRule, mut changes: Vec<ChangeView>, left_out: usize) -> Option<ChangeMessage> {
        let count = changes.len() + left_out;
        let size = |change: &ChangeView| change.percent.map_or(-1.0, f64::abs);
        changes.sort_by(|one, other| size(other).total_cmp(&size(one)));
        let mut room = MAX_BYTES;
        let fits = |change: &ChangeView| match room.checked_sub(bytes(change)) {
            Some(left) => {
                room = left;
                true
            }
            None => false,
        };
        let changes: Vec<ChangeView> = changes.into_iter().map(shortened).take_while(fits).collect();
        let is_cut = changes.len() < count;
        (count > 0).then(|| ChangeMessage { rule: name(rule), count, is_cut, changes })
    }

    /// Text that distinguishes it from the rule's other messages.
    pub fn subject(&self) -> String {
        let first = self.changes.first().map_or("", |change| change.cursor.as_str());
        format!("rule {}:{first}", self.rule.id)
    }
}

fn name(rule: &ChangeRule) -> RuleName {
    RuleName { id: rule.id, name: rule.name.clone() }
}

fn is_of_one_crawl(one: &ChangeView, other: &ChangeView) -> bool {
    (one.store_id, one.crawled_at) == (other.store_id, other.crawled_at)
}

fn bytes(change: &ChangeView) -> usize {
    serde_json::to_vec(change).map_or(MAX_BYTES, |json| json.len())
}

fn shortened(change: ChangeView) -> ChangeView {
    let short = |text: String| text.chars().take(MAX_NAME).collect::<String>();
    let option = change.option.map(|option| ChangedOption { label: short(option.label), ..option });
    let (product, brand) = (change.product.map(short), change.brand.map(short));
    let (store, category) = (short(change.store), change.category.map(short));
    let change = ChangeView { product, brand, option, store, category, text: String::new(), ..change };
    ChangeView { text: text::text(&change), ..change }
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn rule() -> ChangeRule {
        serde_json::from_value(
            json!({"id": 7, "name": "drops", "endpoint_id": 1, "kinds": ["price_drop"], "quiet_minutes": 0,
            "digest": "none", "enabled": true, "created_at": "2025-01-10T08:00:00Z"}),
        )
        .unwrap()
    }

    fn change(store: i64, n: usize, name: &str, percent: Option<f64>) -> ChangeView {
        let change: Value = json!({"cursor": format!("{store}-{n}"), "kind": "price_drop", "store_id": store, "store": "North",
            "product_id": n, "product": name, "brand": name, "category": "Flower", "option": {"label": name, "nth": 0},
            "old": {"rec": 2000}, "new": {"rec": 1500}, "cents": -500, "percent": percent,
            "crawled_at": DateTime::from_timestamp(store, 0).unwrap(), "text": ""});
        serde_json::from_value(change).unwrap()
    }

    /// Length as the database writes it, with spaces.
    fn stored(message: &ChangeMessage) -> usize {
        let json = serde_json::to_string(message).unwrap();
        json.len() + json.matches(',').count() + json.matches(':').count()
    }

    #[test]
    fn a_crawl_has_a_message_of_its_own() {
        let changes = vec![change(1, 0, "a", None), change(1, 1, "b", None), change(2, 0, "c", None)];
        let messages = ChangeMessage::of_crawls(&rule(), changes);
        let counts: Vec<(usize, String)> = messages.iter().map(|message| (message.count, message.subject())).collect();
        assert_eq!(counts, [(2, "rule 7:1-0".to_owned()), (1, "rule 7:2-0".to_owned())]);
        assert_eq!(messages[0].changes[0].text, "a (a) a: $20.00 to $15.00");
    }

    #[test]
    fn a_digest_lists_the_largest_changes_and_counts_the_others() {
        let changes: Vec<ChangeView> = (0..200).map(|n| change(1, n, "a", Some(n as f64 - 150.0))).collect();
        let digest = ChangeMessage::digest(&rule(), changes, 5).unwrap();
        assert_eq!((digest.count, digest.is_cut), (205, true));
        let sizes: Vec<f64> = digest.changes.iter().filter_map(|change| change.percent).collect();
        assert_eq!(&sizes[..3], [-150.0, -149.0, -148.0]);
        assert!(stored(&digest) <= 20 << 10);
        assert_eq!(ChangeMessage::digest(&rule(), Vec::new(), 0), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn every_change_is_in_one_message_and_each_message_fits(names in prop::collection::vec("\\PC{0,20}|\u{1}{0,400}|\u{1F33F}{0,900}", 0..60)) {
            let changes: Vec<ChangeView> =
                names.iter().enumerate().map(|(n, name)| change(n as i64 / 20, n, name, None)).collect();
            let messages = ChangeMessage::of_crawls(&rule(), changes.clone());
            let listed: Vec<&String> =
                messages.iter().flat_map(|message| &message.changes).map(|change| &change.cursor).collect();
            prop_assert_eq!(listed, changes.iter().map(|change| &change.cursor).collect::<Vec<_>>());
            for message in &messages {
                prop_assert!(stored(message) <= 20 << 10, "{}", stored(message));
            }
        }
    }
}
