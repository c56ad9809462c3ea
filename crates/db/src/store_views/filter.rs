//! [`FilterValues`]: the values of a [`StoreFilter`] for statements with `{store_filters}`.
//!
//! In: a filter. Out: the parameters $1 to $6, and the statement with its conditions. It must not know what is read of
//! the stores that match, or done with them.

use tokio_postgres::types::Type;

use crate::client::TypedParam;
use contract::stores::StoreFilter;
use domain::store::{Platform, StoreStatus};

/// A filter's values in the types of the database.
pub(crate) struct FilterValues<'a> {
    filter: &'a StoreFilter,
    platform: Option<&'static str>,
    crawl_status: Option<&'static str>,
}

/// The whole statement.
pub(crate) fn whole(statement: &str) -> String {
    statement.replace("{store_filters}", include_str!("../sql/store_views/filters.sql"))
}

impl<'a> FilterValues<'a> {
    pub fn of(filter: &'a StoreFilter) -> FilterValues<'a> {
        FilterValues {
            filter,
            platform: filter.platform.map(Platform::name),
            crawl_status: filter.crawl_status.map(StoreStatus::name),
        }
    }

    /// The parameters of a statement: the filter's, and then `others` from $7 on.
    pub fn and<'b>(&'b self, others: &[TypedParam<'b>]) -> Vec<TypedParam<'b>> {
        let filter = self.filter;
        let own: [TypedParam<'b>; 6] = [
            (&filter.state, Type::TEXT),
            (&self.platform, Type::TEXT),
            (&filter.group, Type::TEXT),
            (&filter.crawl_enabled, Type::BOOL),
            (&self.crawl_status, Type::TEXT),
            (&filter.q, Type::TEXT),
        ];
        [own.as_slice(), others].concat()
    }
}
