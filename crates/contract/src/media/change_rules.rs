//! Rules of changes: the changes of prices and stock of which an endpoint is notified.

use chrono::{DateTime, TimeDelta, Utc};

use super::record::record;
use super::{Fields, yes};
use crate::changes::{ChangeQuestion, Sizes};
use crate::checks::{BadField, bad, check_each_once, check_text};
use domain::menu::changes::ChangeKind;
use domain::menu::product::ProductId;
use domain::notification::Digest;
use domain::store::StoreId;
use domain::store::state_code::two_letters;
use domain::vocabulary::Word;

/// Maximum time between two notifications of one product: 30 days.
const MAX_QUIET: i32 = 30 * 24 * 60;

record! {
    ChangeRules: ChangeRule {
        name: String,
        endpoint_id: i64,
        #[schema(value_type = Vec<ChangeKind>)]
        kinds: Vec<Word<ChangeKind>>,
        /// Null: every store.
        store_id: Option<StoreId>,
        /// Null: stores in any group or in none.
        group_name: Option<String>,
        /// Null: stores in every state.
        state: Option<String>,
        /// Null: every brand.
        brand: Option<String>,
        /// Null: every category.
        category: Option<String>,
        /// Null: every product.
        product_id: Option<ProductId>,
        /// Minimum size of a change of the price, as a percentage.
        min_percent: Option<f64>,
        /// The same in cents.
        min_cents: Option<i32>,
        /// Maximum price after the change, in cents.
        max_price: Option<i32>,
        /// Maximum price by gram after the change, in millicents.
        max_unit_price: Option<i64>,
        /// Minimum time between two notifications of one product.
        quiet_minutes: i32,
        #[schema(value_type = Digest)]
        digest: Word<Digest>,
        enabled: bool,
        /// Time of its last notification.
        #[serde(alias = "digested_at")]
        notified_at: Option<DateTime<Utc>>,
        created_at: DateTime<Utc>,
    }
    draft ChangeRuleDraft {
        #[schema(min_length = 1, max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
        name: String,
        #[schema(minimum = 1)]
        endpoint_id: i64,
        #[schema(min_items = 1, max_items = 10, example = json!(["price_drop"]))]
        kinds: Vec<ChangeKind>,
        /// Null: every store.
        store_id: Option<StoreId>,
        #[schema(min_length = 1, max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
        group_name: Option<String>,
        /// Two capital letters, such as AZ.
        #[schema(pattern = "^[A-Z]{2}$")]
        state: Option<String>,
        /// Name of a brand, in any letter case.
        #[schema(min_length = 1, max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
        brand: Option<String>,
        /// Name of a category, in any letter case.
        #[schema(min_length = 1, max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
        category: Option<String>,
        product_id: Option<ProductId>,
        /// Minimum size of a change of the price, as a percentage of the old price; other changes are left out.
        #[schema(minimum = 0)]
        min_percent: Option<f64>,
        /// The same in cents.
        #[schema(minimum = 0)]
        min_cents: Option<i32>,
        /// Maximum price after the change, in cents; changes without a price are left out.
        #[schema(minimum = 0)]
        max_price: Option<i32>,
        /// Maximum price by gram after the change, in millicents (thousandths of a cent); changes without one are left out.
        #[schema(minimum = 0)]
        max_unit_price: Option<i64>,
        /// Minimum time between two notifications of one product; 0: none.
        #[serde(default)]
        #[schema(minimum = 0, maximum = 43200)]
        quiet_minutes: i32,
        /// How often changes become a notification; `none`: at once, one a crawl.
        #[serde(default)]
        digest: Digest,
        #[serde(default = "yes")]
        #[schema(default = true)]
        enabled: bool,
    }
    change ChangeRuleChange {
        #[schema(min_length = 1, max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
        name: String,
        #[schema(min_items = 1, max_items = 10)]
        kinds: Vec<ChangeKind>,
        /// Null: every store.
        store_id: Option<StoreId>,
        /// Null: stores in any group or in none.
        #[schema(min_length = 1, max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
        group_name: Option<String>,
        /// Null: stores in every state.
        #[schema(pattern = "^[A-Z]{2}$")]
        state: Option<String>,
        /// Null: every brand.
        #[schema(min_length = 1, max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
        brand: Option<String>,
        /// Null: every category.
        #[schema(min_length = 1, max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
        category: Option<String>,
        /// Null: every product.
        product_id: Option<ProductId>,
        #[schema(minimum = 0)]
        min_percent: Option<f64>,
        #[schema(minimum = 0)]
        min_cents: Option<i32>,
        #[schema(minimum = 0)]
        max_price: Option<i32>,
        #[schema(minimum = 0)]
        max_unit_price: Option<i64>,
        #[schema(minimum = 0, maximum = 43200)]
        quiet_minutes: i32,
        digest: Digest,
        /// A rule that is enabled again begins with the next change.
        enabled: bool,
    }
}

impl ChangeRule {
    /// The question whose answers are the changes of the rule.
    pub fn question(&self) -> ChangeQuestion {
        let known = |kind: &Word<ChangeKind>| match kind {
            Word::Known(kind) => Some(*kind),
            Word::Other(_) => None,
        };
        ChangeQuestion {
            kind: Some(self.kinds.iter().filter_map(known).collect()),
            store: self.store_id,
            group: self.group_name.clone(),
            state: self.state.clone(),
            brand: self.brand.clone(),
            category: self.category.clone(),
            product: self.product_id,
            min_percent: self.min_percent,
            min_cents: self.min_cents,
            max_price: self.max_price,
            max_unit_price: self.max_unit_price,
            ..ChangeQuestion::default()
        }
    }

    /// Minimum time between two messages of a digest; None: each crawl has its own.
    pub fn interval(&self) -> Option<TimeDelta> {
        match self.digest {
            Word::Known(Digest::Hourly) => Some(TimeDelta::hours(1)),
            Word::Known(Digest::Daily) => Some(TimeDelta::days(1)),
            Word::Known(Digest::None) | Word::Other(_) => None,
        }
    }
}

impl Fields for ChangeRuleDraft {
    fn check(&self) -> Result<(), BadField> {
        if self.endpoint_id <= 0 {
            return Err(bad("endpoint_id", "must be the id of an endpoint"));
        }
        check_text("name", Some(&self.name))?;
        check_kinds(&self.kinds)?;
        let texts = [&self.group_name, &self.brand, &self.category];
        check_filters(texts.map(Option::as_deref), self.state.as_deref())?;
        let ChangeRuleDraft { min_percent, min_cents, max_price, max_unit_price, .. } = *self;
        Sizes { min_percent, min_cents, max_price, max_unit_price }.check()?;
        check_quiet(self.quiet_minutes)
    }
}

impl Fields for ChangeRuleChange {
    fn check(&self) -> Result<(), BadField> {
        self.check_not_empty("kinds")?;
        check_text("name", self.name.as_deref())?;
        self.kinds.as_deref().map_or(Ok(()), check_kinds)?;
        let texts = [&self.group_name, &self.brand, &self.category];
        let given = |field: &'_ Option<Option<String>>| field.clone().flatten();
        let [group, brand, category] = texts.map(given);
        check_filters([group.as_deref(), brand.as_deref(), category.as_deref()], given(&self.state).as_deref())?;
        let sizes = Sizes {
            min_percent: self.min_percent.flatten(),
            min_cents: self.min_cents.flatten(),
            max_price: self.max_price.flatten(),
            max_unit_price: self.max_unit_price.flatten(),
        };
        sizes.check()?;
        check_quiet(self.quiet_minutes.unwrap_or_default())
    }
}

fn check_kinds(kinds: &[ChangeKind]) -> Result<(), BadField> {
    check_each_once("kinds", "names a kind twice", kinds)
}

fn check_filters([group, brand, category]: [Option<&str>; 3], state: Option<&str>) -> Result<(), BadField> {
    check_text("group_name", group)?;
    check_text("brand", brand)?;
    check_text("category", category)?;
    let is_state = |state: &str| two_letters(state).is_some_and(|letters| letters == state);
    match state.is_none_or(is_state) {
        true => Ok(()),
        false => Err(bad("state", "must be two capital letters, such as AZ")),
    }
}

fn check_quiet(minutes: i32) -> Result<(), BadField> {
    match (0..=MAX_QUIET).contains(&minutes) {
        true => Ok(()),
        false => Err(bad("quiet_minutes", format!("must be from 0 to {MAX_QUIET}, which is 30 days"))),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    #[rstest]
    #[case::whole(json!({}), None)]
    #[case::narrow(json!({"state": "AZ", "brand": "Granite", "min_percent": 10.0, "digest": "daily", "quiet_minutes": 60}), None)]
    #[case::no_kind(json!({"kinds": []}), Some("kinds"))]
    #[case::a_kind_twice(json!({"kinds": ["gone", "gone"]}), Some("kinds"))]
    #[case::no_name(json!({"name": ""}), Some("name"))]
    #[case::no_endpoint(json!({"endpoint_id": 0}), Some("endpoint_id"))]
    #[case::no_state(json!({"state": "az"}), Some("state"))]
    #[case::no_brand(json!({"brand": "a\nb"}), Some("brand"))]
    #[case::a_negative_size(json!({"min_percent": -1.0}), Some("min_percent"))]
    #[case::a_negative_price(json!({"max_price": -1}), Some("max_price"))]
    #[case::a_negative_unit_price(json!({"max_unit_price": -1}), Some("max_unit_price"))]
    #[case::quiet_for_months(json!({"quiet_minutes": 43201}), Some("quiet_minutes"))]
    fn a_rule_is_checked(#[case] fields: Value, #[case] fault: Option<&str>) {
        let mut draft = json!({"name": "drops", "endpoint_id": 1, "kinds": ["price_drop"]});
        draft.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let draft: ChangeRuleDraft = serde_json::from_value(draft).unwrap();
        assert_eq!(draft.check().err().map(|bad| bad.field), fault);
        let mut change = serde_json::to_value(draft).unwrap();
        change.as_object_mut().unwrap().remove("endpoint_id");
        let change: ChangeRuleChange = serde_json::from_value(change).unwrap();
        assert_eq!(change.check().err().map(|bad| bad.field), fault.filter(|field| *field != "endpoint_id"));
    }
}
