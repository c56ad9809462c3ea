//! [`FilterValues`]: the values of a [`StoreFilter`] for statements with `{store_views/filters.sql}`.
//!
//! It must not know what is read of the stores that match, or done with them.

use crate::statements::named_values;
use contract::stores::StoreFilter;
use domain::store::{Platform, StoreStatus};

/// A filter's values in the types of the database.
pub(crate) struct FilterValues<'a> {
    filter: &'a StoreFilter,
    platform: Option<&'static str>,
    crawl_status: Option<&'static str>,
}

impl<'a> FilterValues<'a> {
    pub fn of(filter: &'a StoreFilter) -> FilterValues<'a> {
        FilterValues {
            filter,
            platform: filter.platform.map(Platform::name),
            crawl_status: filter.crawl_status.map(StoreStatus::name),
        }
    }
}

// a new filter is one more line here, and a condition in `filters.sql`
named_values! {
    values: FilterValues<'_>;
    state = values.filter.state,
    platform = values.platform,
    group = values.filter.group,
    crawl_enabled = values.filter.crawl_enabled,
    crawl_status = values.crawl_status,
    q = values.filter.q,
}
