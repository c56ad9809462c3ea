//! Stores: pages of them, the change of one, and imports.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::checks::present;
use domain::payload::PayloadId;
use domain::retailer::RetailerId;
use domain::store;
use domain::store::{NewStore, Platform, StoreId, StoreStatus};
use domain::switches::SwitchKind;
use domain::task::TaskId;
use domain::vocabulary::{Word, vocabulary};

/// Maximum number of stores of one import.
pub const MAX_IMPORTED: usize = 1_000;

/// Filter of stores; a field that is None does not filter.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct StoreFilter {
    /// Two letters, in any case.
    #[serde(deserialize_with = "store::state_code::optional_letters")]
    #[param(value_type = Option<String>, example = "AZ")]
    pub state: Option<String>,
    pub platform: Option<Platform>,
    pub group: Option<String>,
    pub crawl_enabled: Option<bool>,
    /// The state of its crawls.
    pub crawl_status: Option<StoreStatus>,
    /// Its id, the beginning of its slug, or part of its name or city, in any letter case.
    pub q: Option<String>,
    #[param(inline)]
    pub sort: StoreSort,
    /// Position after the page before, in the same sort.
    #[serde(skip)]
    pub after: Option<StoreCursor>,
    /// Just this store.
    #[serde(skip)]
    pub id: Option<StoreId>,
}

vocabulary! {
    /// The order of stores; equal ones follow by name or id.
    #[derive(Default)]
    pub enum StoreSort {
        #[default]
        Id,
        /// Stores without a menu id first, then with an empty menu, late, held, never crawled, fresh, disabled.
        Trouble,
        Name,
        NameDesc,
        /// Stores without a state come last.
        State,
        StateDesc,
        /// Never crawled ones first, then the oldest complete crawl.
        LastComplete,
        LastCompleteDesc,
    }
}

/// Position of the last store of a page: its values that the order compares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreCursor {
    pub number: i64,
    pub text: String,
    pub id: StoreId,
}

impl StoreSort {
    /// The compared value, and whether the order is backwards.
    pub fn key(self) -> (&'static str, bool) {
        match self {
            StoreSort::Id => ("id", false),
            StoreSort::Trouble => ("trouble", false),
            StoreSort::Name => ("name", false),
            StoreSort::NameDesc => ("name", true),
            StoreSort::State => ("state", false),
            StoreSort::StateDesc => ("state", true),
            StoreSort::LastComplete => ("last_complete", false),
            StoreSort::LastCompleteDesc => ("last_complete", true),
        }
    }
}

/// A menu that a store had on another platform.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FormerMenu {
    #[schema(value_type = Platform)]
    pub platform: Word<Platform>,
    pub platform_dispensary_id: String,
    pub replaced_at: DateTime<Utc>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StoreView {
    pub id: StoreId,
    pub name: String,
    pub slug: Option<String>,
    #[schema(value_type = Platform)]
    pub platform: Word<Platform>,
    pub platform_dispensary_id: Option<String>,
    pub menu_url: Option<String>,
    pub address: Option<String>,
    pub city: Option<String>,
    pub state: Option<String>,
    pub zip: Option<String>,
    pub latitude: Option<f64>,
    pub longitude: Option<f64>,
    pub phone: Option<String>,
    pub timezone: Option<String>,
    pub is_recreational: Option<bool>,
    pub is_medical: Option<bool>,
    /// Numbers of its licences.
    pub licences: Vec<String>,
    /// Its own site.
    pub website: Option<String>,
    pub email: Option<String>,
    /// Its menus on the platforms that it had before, the latest first.
    pub former_menus: Vec<FormerMenu>,
    /// The shop that it is, where it has menus elsewhere, too.
    pub retailer_id: Option<RetailerId>,
    pub groups: Vec<String>,
    pub crawl_enabled: bool,
    /// The state of its crawls, as if it were enabled.
    #[schema(value_type = StoreStatus)]
    pub crawl_status: Word<StoreStatus>,
    /// Number of empty menus in a row that its latest crawls found and did not keep. With three, its state is
    /// `empty_menu`.
    pub empty_menus: i64,
    /// Answers that would close it along with most stores of its state, or put most of its products out of stock, and
    /// are not believed yet.
    pub suspicious: Vec<SuspiciousAnswer>,
    /// Why discovery switched it off; None if a person did.
    pub disabled_reason: Option<String>,
    /// The latest task that looks up its id at the platform, as long as it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lookup_task_id: Option<TaskId>,
    /// Why that task failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lookup_error: Option<String>,
    /// Time of the next try; null: it does not try again. A time that has passed: it is about to run, or runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lookup_next_at: Option<DateTime<Utc>>,
    pub last_fetch_at: Option<DateTime<Utc>>,
    /// Time when a payload last became products.
    pub last_crawl_at: Option<DateTime<Utc>>,
    /// The payload that its products come from, and when it was fetched.
    pub last_payload_id: Option<PayloadId>,
    pub last_payload_at: Option<DateTime<Utc>>,
    /// Time of the fetch of the last complete one.
    pub last_complete_at: Option<DateTime<Utc>>,
    /// The share of the announced products that the last payload held; null if none were announced.
    pub last_coverage: Option<f64>,
    pub products: i64,
    pub in_stock: i64,
    /// Number in stock and on special.
    pub on_special: i64,
}

/// An answer that would switch off more than half of what it covers. It has no effect until enough answers agree, or it
/// is accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SuspiciousAnswer {
    #[schema(value_type = SwitchKind)]
    pub kind: Word<SwitchKind>,
    /// Number of stores or products that it would switch, of `covered`.
    pub switched: i64,
    pub covered: i64,
    pub seen_at: DateTime<Utc>,
    /// Whether a person accepted it: the next answer that says the same is believed.
    pub is_accepted: bool,
}

/// Results for the stores of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ImportedStores {
    pub imported: Vec<ImportedStore>,
    /// Stores that existed already. They stay as they were, except for their groups.
    pub known: Vec<StoreId>,
    /// Number of known stores that were added to the groups named beside them.
    pub grouped: usize,
    /// Stores left out because they are already in the maximum number of groups.
    pub full: Vec<StoreId>,
    /// Known stores with another slug than the one in the list.
    #[serde(default)]
    pub renamed: Vec<RenamedStore>,
}

/// A store that was corrected or renamed. To add another store with the former slug, give that store's platform id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RenamedStore {
    pub id: StoreId,
    /// The slug that it had, in lower case.
    pub former_slug: String,
    /// The slug that it has now.
    pub slug: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ImportedStore {
    pub id: StoreId,
    pub name: String,
    /// The task that looks up its platform id, when none was given.
    pub entry_point_task_id: Option<TaskId>,
}

/// A change of a store; absent fields keep their values, and a null removes the value. A change of the slug or the
/// menu's URL of a store without an id at the platform looks the id up again; with another id, its next crawl begins at
/// once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(min_properties = 1)]
pub struct StoreChange {
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[schema(value_type = bool, required = false)]
    pub crawl_enabled: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[schema(value_type = String, required = false, min_length = 1, max_length = 500)]
    pub name: Option<String>,
    /// Another platform than before: the store moves there with its history. Its slug, its menu's URL and its id are those of the new
    /// platform, or none; its products of the platform before are sold out.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[schema(value_type = Platform, required = false)]
    pub platform: Option<Platform>,
    /// The last part of its menu's URL.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[schema(value_type = Option<String>, max_length = 500)]
    pub slug: Option<Option<String>>,
    /// Address from which the platform's id is looked up, in place of the slug. It is on a host of the platform or of the
    /// store's API.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[schema(value_type = Option<String>, max_length = 500)]
    pub menu_url: Option<Option<String>>,
    /// The store's id at the platform.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[schema(value_type = Option<String>, max_length = 500)]
    pub platform_dispensary_id: Option<Option<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[schema(value_type = Option<String>, max_length = 500)]
    pub city: Option<Option<String>>,
    /// Two letters, such as `AZ`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[schema(value_type = Option<String>, pattern = "^([A-Za-z]{2})?$")]
    pub state: Option<Option<String>>,
    /// An IANA timezone, such as `America/Phoenix`; without one, it is that of the state.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    #[schema(value_type = Option<String>, max_length = 500)]
    pub timezone: Option<Option<String>>,
}

/// A store after its change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ChangedStore {
    #[serde(flatten)]
    pub store: StoreView,
    /// Why its new address does not change its crawls, and the command that makes it take effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// How to delete a store.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct StoreDeletion {
    /// Delete its products and payloads, too. Without this, a store that has some is not deleted.
    pub with_products: bool,
}

/// A store that was deleted, and the number of products and payloads that were deleted with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DeletedStore {
    pub id: StoreId,
    pub name: String,
    pub products: i64,
    pub payloads: i64,
    /// Store discovery once found it: the next discovery that finds it adds it again.
    pub is_discovered: bool,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct StorePage {
    pub stores: Vec<StoreView>,
    /// Stores that match, on all pages.
    pub total: i64,
    /// Cursor of the next page; null on the last page.
    pub next_cursor: Option<String>,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct StoreImport {
    #[schema(min_items = 1, max_items = 1000)]
    pub stores: Vec<StoreFields>,
    /// Only checks the list and imports nothing: its faults are those of the import.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
}

/// A store, given by at least one of the platform's id, the slug and the menu's URL.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct StoreFields {
    #[schema(min_length = 1, max_length = 500)]
    pub name: String,
    /// Platform of the menu; by default the one whose site `menu_url` is on.
    pub platform: Option<Platform>,
    /// The store's id at the platform.
    #[schema(max_length = 500)]
    pub platform_dispensary_id: Option<String>,
    /// The last part of its menu's URL.
    #[schema(max_length = 500)]
    pub slug: Option<String>,
    /// Address from which the platform's id is looked up, in place of the slug. It is on a host of the platform or of the
    /// store's API.
    #[schema(max_length = 500)]
    pub menu_url: Option<String>,
    /// The host of its API, when it is not the platform's.
    pub api_host: Option<String>,
    /// The path of its API, when it is not the platform's.
    #[schema(max_length = 500)]
    pub api_path: Option<String>,
    #[schema(max_length = 500)]
    pub city: Option<String>,
    /// Two letters, such as `AZ`.
    #[schema(pattern = "^([A-Za-z]{2})?$")]
    pub state: Option<String>,
    /// An IANA timezone, such as `America/Phoenix`.
    #[schema(max_length = 500)]
    pub timezone: Option<String>,
    /// Names of letters, digits, hyphens and underscores.
    #[serde(default)]
    #[schema(max_items = 20)]
    pub groups: Vec<String>,
}

impl From<NewStore> for StoreFields {
    fn from(store: NewStore) -> Self {
        StoreFields {
            name: store.name,
            platform: Some(store.platform),
            platform_dispensary_id: store.platform_dispensary_id,
            slug: store.slug,
            menu_url: store.menu_url,
            api_host: store.api_host,
            api_path: store.api_path,
            city: store.city,
            state: store.state,
            timezone: store.timezone,
            groups: store.groups,
        }
    }
}
