//! `/api/openapi.json`: the description of the API, as OpenAPI 3.1. `docs/openapi.json` is the same.

use std::borrow::Cow;
use std::sync::OnceLock;

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{ComponentsBuilder, InfoBuilder, LicenseBuilder};
use utoipa::{PartialSchema, ToSchema};

use super::authenticate::LOGIN_COOKIE;
use super::endpoint::{BEARER, LOGIN};
use super::{Anyone, ApiState, router};
use contract::problem::Problem;

const DESCRIPTION: &str = "The queue, the workers and what was crawled. Unknown parameters and fields are refused; every refusal of \
                           a request that can be read is a problem document (RFC 9457). See docs/api.md.";

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
    let mut document = json!(document);
    if let Some(paths) = document["paths"].as_object_mut() {
        *paths = std::mem::take(paths).into_iter().map(|(path, item)| (path.replace("{*", "{"), item)).collect();
    }
    document
}

/// This document.
#[utoipa::path(get, path = "/api/openapi.json", tag = "service", responses((status = 200, body = Object)))]
pub async fn show(_: Anyone, State(api): State<ApiState>) -> Json<Cow<'static, Value>> {
    static DOCUMENT: OnceLock<Value> = OnceLock::new();
    let mut document = Cow::Borrowed(DOCUMENT.get_or_init(document));
    let base_path = &api.config.base_path;
    if !base_path.is_empty() {
        document.to_mut()["servers"] = json!([{ "url": base_path }]);
    }
    Json(document)
}
