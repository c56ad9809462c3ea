//! The document of all pages and its files, as the build has embedded them.

use std::fmt::Write as _;
use std::sync::LazyLock;

use axum::Router;
use axum::extract::{Path, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use rust_embed::RustEmbed;

use crate::api::{ApiError, ApiState};
use crate::digest::sha256_hex;

pub const IS_BUILT: bool = true;

/// Scripts and styles are files of this server, and requests go to it alone.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
const FOR_EVER: &str = "public, max-age=31536000, immutable";
const VERSION_CHARS: usize = 12;

#[derive(RustEmbed)]
#[folder = "$OUT_DIR/ui"]
struct Files;

/// Of all files together: another build has other addresses.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let mut hashes = String::new();
    for name in Files::iter() {
        let hash = Files::get(&name).map(|file| file.metadata.sha256_hash()).unwrap_or_default();
        let _ = write!(hashes, "{name} {hash:?} ");
    }
    let mut version = sha256_hex(hashes);
    version.truncate(VERSION_CHARS);
    version
});

pub fn routes() -> Router<ApiState> {
    Router::new()
        .route("/admin", get(document))
        .route("/admin/{*page}", get(document))
        .route("/login", get(document))
        .route("/ui/{version}/{*file}", get(file))
}

async fn document(State(api): State<ApiState>) -> Result<Response, ApiError> {
    let file = Files::get("index.html").ok_or_else(|| ApiError::Internal("no index.html in the build".to_owned()))?;
    let text = String::from_utf8_lossy(&file.data);
    let text = text.replace("{base_path}", &api.config.base_path).replace("{version}", &VERSION);
    Ok(([(CONTENT_SECURITY_POLICY, POLICY)], Html(text)).into_response())
}

async fn file(Path((version, name)): Path<(String, String)>) -> Result<Response, ApiError> {
    let file = Files::get(&name).filter(|_| version == *VERSION);
    let file = file.ok_or_else(|| ApiError::NotFound(format!("/ui/{version}/{name}")))?;
    let headers = [(CONTENT_TYPE, content_type(&name)), (CACHE_CONTROL, FOR_EVER)];
    Ok((headers, file.data).into_response())
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
