//! The feed of changes: prices, specials, stock and products that differ from their store's crawl before.

pub mod messages;
pub mod rehearsal;
mod text;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::{IntoParams, ToSchema};

use self::messages::ChangeMessage;
use super::age_sort::AgeSort;
use super::checks::{BadField, at_least_0, bad};
use super::position::Position;
use domain::menu::changes::{ChangeKind, ChangeSide};
use domain::menu::product::ProductId;
use domain::store::StoreId;
use domain::vocabulary::Word;
use domain::{span, store, vocabulary};

/// A place in the feed: behind the change with this number of this batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangePlace {
    /// Id of the database: places of others mean nothing here.
    pub installation: String,
    pub seq: i64,
    pub n: i32,
}

/// Question of a reader: which changes, from where; a field that is None does not filter.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ChangeQuestion {
    /// `next_cursor` of the answer before, or the `cursor` of a change. Without it, and without `from`, the feed begins now.
    #[param(value_type = Option<String>)]
    pub since: Option<Position<ChangePlace>>,
    /// Order of the feed: `oldest` follows it, `newest` goes back from its end.
    #[param(inline, value_type = Option<AgeSort>)]
    pub sort: Option<AgeSort>,
    /// `next_cursor` of the answer before, or the `cursor` of a change: with `sort=newest`, in place of `since`.
    #[param(value_type = Option<String>)]
    pub before: Option<Position<ChangePlace>>,
    /// Only changes at or after this time: a time, or a day in UTC. Not together with `since`.
    #[serde(deserialize_with = "span::optional_beginning")]
    #[param(schema_with = span::schema)]
    pub from: Option<DateTime<Utc>>,
    /// Maximum time that an answer without changes waits for some, at most `30s`. The server may answer earlier. With `sort=newest`: maximum
    /// time for which it goes back in search of changes that fit.
    pub wait: Option<String>,
    /// Maximum number of changes.
    #[param(inline)]
    pub limit: ChangeLimit,
    /// Only these kinds, separated by commas.
    #[serde(deserialize_with = "kinds")]
    #[param(style = Form, explode = false, min_items = 1, inline, value_type = Option<Vec<ChangeKind>>)]
    pub kind: Option<Vec<ChangeKind>>,
    /// The store's id.
    pub store: Option<StoreId>,
    /// Name of a group of stores.
    pub group: Option<String>,
    /// Two letters, in any case.
    #[serde(deserialize_with = "store::state_code::optional_letters")]
    #[param(value_type = Option<String>, example = "AZ")]
    pub state: Option<String>,
    /// Name of a brand, in any letter case.
    pub brand: Option<String>,
    /// Name of a category, in any letter case.
    pub category: Option<String>,
    /// The product's id.
    pub product: Option<ProductId>,
    /// Minimum size of a change of the price, up or down, as a percentage of the old price; other changes are left out.
    #[param(minimum = 0)]
    pub min_percent: Option<f64>,
    /// The same in cents.
    #[param(minimum = 0)]
    pub min_cents: Option<i32>,
    /// Maximum price after the change, in cents; changes without a price are left out.
    #[param(minimum = 0)]
    pub max_price: Option<i32>,
    /// Maximum price by gram after the change, in millicents (thousandths of a cent); changes without one are left out.
    #[param(minimum = 0)]
    pub max_unit_price: Option<i64>,
}

impl ChangeQuestion {
    /// Whether it asks for a part of the changes of a store.
    pub fn leaves_out_lines(&self) -> bool {
        let ChangeQuestion { kind, group, state, brand, category, product, .. } = self;
        let has_text = [group, state, brand, category].into_iter().any(Option::is_some);
        has_text || kind.is_some() || product.is_some() || self.sizes() != Sizes::default()
    }

    /// Whether its answers go back from the end of the feed.
    pub fn is_newest_first(&self) -> bool {
        self.sort == Some(AgeSort::Newest)
    }

    pub fn check(&self) -> Result<(), BadField> {
        match (self.is_newest_first(), &self.since, &self.before) {
            (true, Some(_), _) => return Err(bad("since", "is of no use with sort=newest: send the cursor as before")),
            (false, _, Some(_)) => return Err(bad("before", "is of no use without sort=newest")),
            _ => {}
        }
        self.sizes().check()
    }

    fn sizes(&self) -> Sizes {
        let ChangeQuestion { min_percent, min_cents, max_price, max_unit_price, .. } = *self;
        Sizes { min_percent, min_cents, max_price, max_unit_price }
    }
}

/// The numbers by which changes are filtered.
#[derive(Clone, Copy, Default, PartialEq)]
pub(crate) struct Sizes {
    pub min_percent: Option<f64>,
    pub min_cents: Option<i32>,
    pub max_price: Option<i32>,
    pub max_unit_price: Option<i64>,
}

impl Sizes {
    pub fn check(self) -> Result<(), BadField> {
        at_least_0("min_percent", self.min_percent)?;
        at_least_0("min_cents", self.min_cents)?;
        at_least_0("max_price", self.max_price)?;
        at_least_0("max_unit_price", self.max_unit_price)
    }
}

/// A number of changes, from 1 to 1,000.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[schema(minimum = 1, maximum = 1000, default = 100)]
pub struct ChangeLimit(pub i64);

impl ChangeLimit {
    const MAX: i64 = 1000;
}

impl Default for ChangeLimit {
    fn default() -> Self {
        ChangeLimit(100)
    }
}

impl<'de> Deserialize<'de> for ChangeLimit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let limit = i64::deserialize(deserializer)?;
        match (1..=ChangeLimit::MAX).contains(&limit) {
            true => Ok(ChangeLimit(limit)),
            false => Err(serde::de::Error::custom(format_args!("{limit} is out of range (1 to {})", ChangeLimit::MAX))),
        }
    }
}

pub(crate) fn kinds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<ChangeKind>>, D::Error> {
    let text = String::deserialize(deserializer)?;
    vocabulary::listed(&text, "kinds").map(Some).map_err(serde::de::Error::custom)
}

/// The option of a product that changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ChangedOption {
    pub label: String,
    /// The n-th option of that label, from 0: labels repeat.
    pub nth: i16,
}

/// A change of an option or a product. Money is cents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ChangeView {
    /// Its place: `since` with it continues behind this change.
    pub cursor: String,
    #[schema(value_type = ChangeKind)]
    pub kind: Word<ChangeKind>,
    pub store_id: StoreId,
    pub store: String,
    pub product_id: ProductId,
    /// Name of the product; null if the product was deleted.
    pub product: Option<String>,
    pub brand: Option<String>,
    pub category: Option<String>,
    /// Null: the change is of the product.
    pub option: Option<ChangedOption>,
    /// The option before, as far as the change concerns it.
    pub old: Option<ChangeSide>,
    pub new: Option<ChangeSide>,
    /// New minus old price: of the recreational price if it changed this way, else of the medical one.
    pub cents: Option<i32>,
    /// `cents` as a percentage of the old price, in hundredths; null if the old price was 0.
    pub percent: Option<f64>,
    /// Time of the crawl that found it.
    pub crawled_at: DateTime<Utc>,
    /// The change in words, without store and time.
    pub text: String,
}

impl ChangeView {
    /// Adds the words.
    pub fn in_words(self) -> ChangeView {
        ChangeView { text: text::text(&self), ..self }
    }
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct ChangePage {
    /// Changes in the order of the feed, which is the same for all readers: those of a store follow its crawls. With `sort=newest` backwards.
    pub changes: Vec<ChangeView>,
    /// Continues behind these changes, with `sort=newest` as `before`; there always is one.
    pub next_cursor: String,
    /// Whether the feed had no more changes when the answer was made.
    pub caught_up: bool,
}

/// The past that a rehearsal is about.
#[derive(Clone, Copy, Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct RehearsalQuestion {
    /// Begin of the time; by default seven days ago. A time, or a day in UTC.
    #[serde(deserialize_with = "span::optional_beginning")]
    #[param(schema_with = span::schema)]
    pub from: Option<DateTime<Utc>>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct RehearsalPage {
    /// Messages that the rule would have sent, oldest first: the `data` of notifications `products.changed`.
    pub messages: Vec<ChangeMessage>,
    /// Whether there would have been more.
    pub is_cut: bool,
}
