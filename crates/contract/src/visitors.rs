//! Requests of consumers by country, region and hour.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use domain::{span, store, years};

/// Filter of hours and places; a field that is None does not filter.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct VisitorFilter {
    #[serde(deserialize_with = "span::optional_beginning")]
    #[param(schema_with = span::schema)]
    pub from: Option<DateTime<Utc>>,
    /// Exclusive, but for a day, which is part of it.
    #[serde(deserialize_with = "span::optional_end")]
    #[param(schema_with = span::schema)]
    pub to: Option<DateTime<Utc>>,
    /// Two letters, in any case.
    #[serde(deserialize_with = "store::state_code::optional_letters")]
    #[param(value_type = Option<String>, example = "US")]
    pub country: Option<String>,
    /// The last one of the page before.
    #[serde(skip)]
    pub after: Option<VisitorCursor>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct VisitorCursor {
    #[serde(deserialize_with = "years::within")]
    pub hour: DateTime<Utc>,
    pub country: String,
    pub region: String,
}

/// Requests from one place in one hour.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct VisitorHour {
    pub hour: DateTime<Utc>,
    /// Two letters; null if it is not known.
    pub country: Option<String>,
    pub region: Option<String>,
    pub requests: i64,
}

#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub struct VisitorPage {
    pub visitors: Vec<VisitorHour>,
    /// Cursor of the next page; null on the last page.
    pub next_cursor: Option<String>,
    /// Whether this server looks up places: without `geo.database`, the place of every request is unknown.
    pub geo: bool,
}

impl VisitorHour {
    /// Beginning of the next page.
    pub fn position(&self) -> VisitorCursor {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        VisitorCursor { hour: self.hour, country: text(&self.country), region: text(&self.region) }
    }
}
