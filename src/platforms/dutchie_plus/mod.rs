//! Dutchie Plus: the API that Dutchie opens to partners by a key. One call answers a retailer's whole menu.
//!
//! It lists no retailers: stores come by import, with the retailer's id as their platform id. The key goes to
//! the configured address and to no other, whatever a store's row says.

mod data;
pub mod normalize;

use std::sync::Arc;

use serde_json::json;
use url::Url;

use super::answer_errors::unreadable;
use super::definition::bodies;
use super::{
    Adapter, AddressField, BadPlatform, Definition, DiscoveryPoint, MenuPart, Query, StoresPart, graphql,
    not_addressable,
};
use crate::stealth::{FetchError, Request, RequestKind, Response, Secrets};
use domain::store::{FoundStore, Platform, Store};
use settings::{PlatformSettings, Secret};

pub use data::{DataError, DutchiePlusData};

pub const DEFINITION: Definition = Definition {
    adapter: |settings, data| {
        let data = DutchiePlusData::load(data).map_err(|bad| BadPlatform::Data(bad.to_string()))?;
        Ok(Arc::new(DutchiePlus::new(settings, data)?))
    },
    normalise: |pages| normalize::normalise(&bodies(pages)),
    // its stores come by import, and are found by their ids alone
    default_schedules: &[],
    menu_key: |_| None,
    menu_url_fault: |_, _, _| None,
};

const MENU_OPERATION: &str = "menu";

pub struct DutchiePlus {
    endpoint: Url,
    key: Secret,
    data: DutchiePlusData,
}

impl DutchiePlus {
    pub fn new(settings: &PlatformSettings, data: DutchiePlusData) -> Result<Self, BadPlatform> {
        let base_url = settings.parse_base_url().map_err(BadPlatform::BaseUrl)?;
        let endpoint = base_url.join(&settings.api_path).map_err(|error| BadPlatform::BaseUrl(error.to_string()))?;
        Ok(DutchiePlus { endpoint, key: settings.key.clone(), data })
    }
}

impl Adapter for DutchiePlus {
    fn platform(&self) -> Platform {
        Platform::DutchiePlus
    }

    /// None without a key, since nothing is sent then.
    fn api_hosts(&self) -> Vec<String> {
        self.endpoint.host_str().filter(|_| !self.key.is_empty()).map(str::to_owned).into_iter().collect()
    }

    fn takes_key(&self) -> bool {
        true
    }

    fn announces_total(&self) -> bool {
        false
    }

    fn endpoint(&self, _: Option<&Store>) -> Result<Url, FetchError> {
        Ok(self.endpoint.clone())
    }

    fn resolve_query(&self, store: &Store) -> Result<Query, FetchError> {
        Err(not_addressable(store, "has no retailer id: import it again with its id as platform_dispensary_id"))
    }

    fn leading_field(&self, _: &Store) -> AddressField {
        AddressField::PlatformId
    }

    fn lists_stores(&self) -> bool {
        false
    }

    fn discovery_query(&self, _: &DiscoveryPoint) -> Result<Query, FetchError> {
        let what = "Dutchie Plus lists no retailers: import them with `drover stores import`".to_owned();
        Err(FetchError::NotFound { what })
    }

    fn menu_query(&self, store: &Store) -> Result<Query, FetchError> {
        if self.key.is_empty() {
            let reason = "platform.dutchie_plus.key is not set".to_owned();
            return Err(FetchError::NotAllowed { what: "the Dutchie Plus API".to_owned(), reason });
        }
        let Some(id) = &store.platform_dispensary_id else {
            return self.resolve_query(store);
        };
        let mut referer = self.endpoint.clone();
        referer.set_path("/");
        let endpoint = self.endpoint.clone();
        let parameters = json!({ "retailerId": id }).to_string();
        Ok(Query { operation: MENU_OPERATION, endpoint, referer, parameters, cursor: json!(id) })
    }

    fn request(&self, query: &Query) -> Option<Request> {
        let script_headers = vec![
            ("accept", "application/json".to_owned()),
            ("content-type", "application/json".to_owned()),
            ("authorization", format!("Bearer {}", self.key.reveal())),
        ];
        Some(Request {
            script_headers,
            secrets: Secrets { headers: &["authorization"], ..Secrets::default() },
            body: Some(graphql::body(query, self.data.menu_document())),
            ..Request::new(RequestKind::FetchWithBody, query.endpoint.clone(), query.referer.clone())
        })
    }

    fn read_store(&self, _: &Query, response: &Response) -> Result<Option<FoundStore>, FetchError> {
        Err(unreadable(response, "Dutchie Plus was asked for no store".to_owned()))
    }

    fn read_stores(&self, _: &Query, response: &Response) -> Result<StoresPart, FetchError> {
        Err(unreadable(response, "Dutchie Plus was asked for no stores".to_owned()))
    }

    fn read_menu(&self, query: &Query, response: &Response) -> Result<MenuPart, FetchError> {
        let read = normalize::read_menu(0, &response.body);
        Ok(graphql::menu_page(query.operation, response, read, true)?.into_part(None))
    }
}

#[cfg(test)]
mod tests;
