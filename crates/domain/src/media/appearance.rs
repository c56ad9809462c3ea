//! Appearances of people in films and series.

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use crate::vocabulary::vocabulary;

vocabulary! {
    pub enum ProductionKind {
        Movie,
        Tv,
    }
}

/// One credit, as its service lists it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Appearance {
    pub credit_id: String,
    pub media_type: ProductionKind,
    pub tmdb_id: i64,
    pub title: String,
    /// Name of the part that the person played.
    pub character: Option<String>,
    /// Department behind the camera.
    pub department: Option<String>,
    pub job: Option<String>,
    pub episode_count: Option<i32>,
    pub released_on: Option<NaiveDate>,
}
