//! The envelopes of answers: data, and errors with or without it.

use serde::Serialize;
use serde_json::Value;

#[derive(Serialize)]
pub(crate) struct Answer<T> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) errors: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) data: Option<T>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Menu<P> {
    pub(crate) filtered_products: Products<P>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Products<P> {
    pub(crate) products: Vec<P>,
    pub(crate) query_info: QueryInfo,
    #[serde(rename = "__typename")]
    pub(crate) typename: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct QueryInfo {
    pub(crate) total_count: usize,
    pub(crate) total_pages: usize,
    #[serde(rename = "__typename")]
    pub(crate) typename: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Dispensaries<D> {
    pub(crate) filtered_dispensaries: Vec<D>,
}

impl<P> Menu<P> {
    pub(crate) fn page(products: Vec<P>, total_count: usize, per_page: usize) -> Menu<P> {
        let query_info =
            QueryInfo { total_count, total_pages: total_count.div_ceil(per_page), typename: "queryInfoType" };
        Menu { filtered_products: Products { products, query_info, typename: "ProductsList" } }
    }
}
