//! Replaces the pages in a build without npm: shows the reason and the remedy.

use axum::Router;
use axum::routing::get;

use api::{ApiError, ApiState};

pub const IS_BUILT: bool = false;

pub fn routes() -> Router<ApiState> {
    Router::new().route("/admin", get(absent)).route("/admin/{*page}", get(absent)).route("/login", get(absent))
}

async fn absent() -> ApiError {
    ApiError::NotFound(
        "the dashboard (drover was built without it: install Node.js with npm, and build again)".to_owned(),
    )
}
