//! The document of all pages, and its files.

use strum::VariantArray;

use super::files;
use api::{ApiError, ApiState};
use axum::Router;
use axum::extract::{Path, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use domain::store::Platform;

pub const IS_BUILT: bool = true;

/// Scripts and styles are files of this server, and requests go to it alone.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
const IMMUTABLE: &str = "public, max-age=31536000, immutable";

pub fn routes() -> Router<ApiState> {
    Router::new()
        .route("/admin", get(document))
        .route("/admin/{*page}", get(document))
        .route("/login", get(document))
        .route("/ui/{version}/{*file}", get(file))
}

async fn document(State(api): State<ApiState>) -> Result<Response, ApiError> {
    let file = files::get("index.html").ok_or_else(|| ApiError::Internal("no index.html in the build".to_owned()))?;
    let text = String::from_utf8_lossy(&file);
    let platforms: Vec<&str> = Platform::VARIANTS.iter().map(|platform| platform.name()).collect();
    let text = text.replace("{base_path}", &api.config.base_path).replace("{version}", &files::version());
    let text = text.replace("{platforms}", &platforms.join(" "));
    Ok(([(CONTENT_SECURITY_POLICY, POLICY)], Html(text)).into_response())
}

async fn file(Path((version, name)): Path<(String, String)>) -> Result<Response, ApiError> {
    let file = files::get(&name).filter(|_| files::is_version(&version));
    let file = file.ok_or_else(|| ApiError::NotFound(format!("/ui/{version}/{name}")))?;
    let headers = [(CONTENT_TYPE, content_type(&name)), (CACHE_CONTROL, IMMUTABLE)];
    Ok((headers, file).into_response())
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("js") => "text/javascript",
        Some("css") => "text/css",
        Some("svg") => "image/svg+xml",
        Some("html") => "text/html; charset=utf-8",
        _ => "application/octet-stream",
    }
}
