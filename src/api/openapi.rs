//! `/api/openapi.json`: what the API answers, as OpenAPI 3.1. `docs/openapi.json` is the same.

use std::sync::OnceLock;

use axum::Json;
use serde_json::{Value, json};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{ComponentsBuilder, InfoBuilder, LicenseBuilder};
use utoipa::{PartialSchema, ToSchema};

use super::access::Anyone;
use super::authenticate::LOGIN_COOKIE;
use super::endpoint::{BEARER, LOGIN};
use super::error::Problem;
use super::query::{NoParameters, Query};
use super::router;

const DESCRIPTION: &str = "The queue, the workers and what was crawled. Unknown parameters and fields are refused; every refusal is a \
                           problem document (RFC 9457). See docs/api.md.";

/// The document, in an order that does not change.
pub fn document() -> Value {
    let mut document = router::endpoints().into_openapi();
    document.info = InfoBuilder::new()
        .title("drover")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(DESCRIPTION))
        .license(Some(LicenseBuilder::new().name("MIT OR Apache-2.0").build()))
        .build();
    let cookie = SecurityScheme::ApiKey(ApiKey::Cookie(ApiKeyValue::new(LOGIN_COOKIE)));
    let mut schemas = vec![("Problem".to_owned(), Problem::schema())];
    Problem::schemas(&mut schemas);
    let components = ComponentsBuilder::from(document.components.take().unwrap_or_default())
        .schemas_from_iter(schemas)
        .response_from::<Problem>()
        .security_scheme(BEARER, SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)))
        .security_scheme(LOGIN, cookie);
    document.components = Some(components.build());
    // by way of a value, since the order of extensions differs from call to call
    json!(document)
}

/// This document.
#[utoipa::path(get, path = "/api/openapi.json", tag = "service", responses((status = 200, body = Object)))]
pub async fn show(_: Anyone, _: Query<NoParameters>) -> Json<&'static Value> {
    static DOCUMENT: OnceLock<Value> = OnceLock::new();
    Json(DOCUMENT.get_or_init(document))
}
