//! Saved searches, which `easynews_monitor` runs.

use chrono::{DateTime, Utc};

use super::record::record;
use super::{Fields, yes};
use crate::checks::{BadField, bad, check_text};

const MAX_EXTENSIONS: usize = 20;
const MAX_EXTENSION_CHARS: usize = 8;

record! {
    Searches: Search {
        query: String,
        /// Empty: any.
        extensions: Vec<String>,
        /// Smaller files are left out.
        min_bytes: i64,
        /// Its new files are downloaded.
        download: bool,
        enabled: bool,
        last_run_at: Option<DateTime<Utc>>,
        /// Why the last run failed; null: it did not.
        last_error: Option<String>,
        created_at: DateTime<Utc>,
    }
    draft SearchDraft {
        #[schema(min_length = 1, max_length = 200, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$")]
        query: String,
        /// Letters and digits without a dot, such as `mkv`. Empty: any.
        #[serde(default)]
        #[schema(max_items = 20)]
        extensions: Vec<String>,
        #[serde(default)]
        #[schema(minimum = 0)]
        min_bytes: i64,
        /// Download its new files. The files of its first run are not new.
        #[serde(default)]
        download: bool,
        #[serde(default = "yes")]
        #[schema(default = true)]
        enabled: bool,
    }
    change SearchChange {
        #[schema(max_items = 20)]
        extensions: Vec<String>,
        #[schema(minimum = 0)]
        min_bytes: i64,
        download: bool,
        enabled: bool,
    }
}

impl Fields for SearchDraft {
    fn check(&self) -> Result<(), BadField> {
        check_text("query", Some(&self.query))?;
        check_extensions(&self.extensions)?;
        check_size(self.min_bytes)
    }
}

impl Fields for SearchChange {
    fn check(&self) -> Result<(), BadField> {
        self.check_not_empty("enabled")?;
        check_extensions(self.extensions.as_deref().unwrap_or_default())?;
        check_size(self.min_bytes.unwrap_or_default())
    }
}

fn check_extensions(extensions: &[String]) -> Result<(), BadField> {
    let is_extension = |text: &String| {
        (1..=MAX_EXTENSION_CHARS).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    match extensions {
        many if many.len() > MAX_EXTENSIONS => {
            Err(bad("extensions", format!("{} extensions; the maximum is {MAX_EXTENSIONS}", many.len())))
        }
        few if few.iter().all(is_extension) => Ok(()),
        _ => Err(bad(
            "extensions",
            format!("each must be 1 to {MAX_EXTENSION_CHARS} letters and digits without a dot, such as mkv"),
        )),
    }
}

fn check_size(min_bytes: i64) -> Result<(), BadField> {
    match min_bytes < 0 {
        true => Err(bad("min_bytes", "must be at least 0")),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    #[rstest]
    #[case::a_query(json!({"query": "linux iso"}), None)]
    #[case::all_fields(json!({"query": "a", "extensions": ["mkv", "mp4"], "min_bytes": 1, "download": true, "enabled": false}), None)]
    #[case::no_query(json!({"query": ""}), Some("query"))]
    #[case::a_dot(json!({"query": "a", "extensions": [".mkv"]}), Some("extensions"))]
    #[case::many(json!({"query": "a", "extensions": vec!["a"; 21]}), Some("extensions"))]
    #[case::a_negative_size(json!({"query": "a", "min_bytes": -1}), Some("min_bytes"))]
    fn a_search_is_checked(#[case] draft: Value, #[case] fault: Option<&str>) {
        let draft: SearchDraft = serde_json::from_value(draft).unwrap();
        assert_eq!(draft.check().err().map(|bad| bad.field), fault);
    }
}
