//! Requests to the services that jobs use, and their answers: an address out of names, values out of bytes.
//!
//! In: a base address from the configuration; a whole body, whose size its caller bounds. Out: an address
//! to ask; posts, videos, files and credits. A shape that no longer fits is an error that names the
//! field, and not an empty answer; one odd element among others is left out and named. It must not know connections, secrets or tables.

pub mod discourse;
pub mod easynews;
pub mod forum_page;
mod markup;
pub mod media_links;
pub mod paged_forum;
pub mod readable;
pub mod selectors;
pub mod tmdb;
pub mod youtube;

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::error::Category;
use thiserror::Error;
use url::Url;

pub use self::readable::{Odd, Readable};
use crate::json_text::repaired;
use domain::task::disposition::{Disposition, HasDisposition};
use foundation::text::bounded;

/// Maximum bytes of a post's text; the rest is cut off.
pub const MAX_TEXT: usize = 256 * 1024;
/// Maximum bytes of a title or a name.
const MAX_NAME: usize = 1_000;
/// Maximum bytes of an id, and of other words of a service.
const MAX_ID: usize = 200;

/// Reason why an answer cannot be used. It may be another page than the asked one (a challenge, a
/// log-in), or a new shape.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ReadError {
    #[error("the answer is not {expected}: {fault}")]
    NotReadable { expected: &'static str, fault: String },
    #[error("the answer has an unexpected format: {field} {fault}")]
    Strange { field: String, fault: String },
    /// Every page of a thread has posts, so the selectors fit no longer, or this is a page for guests.
    #[error("the page has no posts: the selectors do not fit it, or it needs a log-in")]
    NoPosts,
}

impl ReadError {
    fn strange(field: impl Into<String>, fault: impl ToString) -> Self {
        ReadError::Strange { field: field.into(), fault: fault.to_string() }
    }

    /// The text where one element of an answer has the fault.
    fn of_element(&self) -> String {
        match self {
            ReadError::Strange { field, fault } => format!("{field} {fault}"),
            other => other.to_string(),
        }
    }
}

fn json<T: DeserializeOwned>(body: &[u8]) -> Result<T, ReadError> {
    let read = serde_json::from_slice(body).or_else(|error| match error.classify() {
        Category::Data => Err(error),
        _ => serde_json::from_str(&repaired(body)),
    });
    read.map_err(|error| match error.classify() {
        Category::Data => ReadError::strange("a field", error),
        _ => ReadError::NotReadable { expected: "JSON", fault: error.to_string() },
    })
}

/// One element of an answer. `name`: for its faults.
fn element<T: DeserializeOwned>(value: &Value, name: &str) -> Result<T, ReadError> {
    T::deserialize(value).map_err(|error| ReadError::strange(name, error))
}

/// How an element is named by one of its fields.
fn named(noun: &str, value: &Value, field: &str) -> String {
    match value.get(field) {
        Some(id) if id.is_string() || id.is_number() => format!("{noun} {}", bounded(&id.to_string(), MAX_ID)),
        _ => format!("a {noun} without {field}"),
    }
}

/// `base` with these segments after its own path.
fn below(base: &Url, segments: &[&str]) -> Url {
    let mut url = base.clone();
    if let Ok(mut path) = url.path_segments_mut() {
        path.pop_if_empty().extend(segments);
    }
    url
}

impl HasDisposition for ReadError {
    /// A service that has another shape today may have its own again tomorrow.
    fn disposition(&self) -> Disposition {
        Disposition::Retry
    }
}

fn name(text: &str) -> String {
    bounded(text, MAX_NAME)
}

fn is_usual(year: i32) -> bool {
    (1..=9_999).contains(&year)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn base() -> Url {
        "http://127.0.0.1:9".parse().unwrap()
    }

    proptest! {
        #[test]
        fn no_answer_panics(body in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = youtube::read(&body, "UC0123456789012345678901");
            let _ = easynews::read(&body);
            let _ = tmdb::read(&body);
            let _ = discourse::topic(&body, &base());
            let _ = discourse::posts(&body, &base());
            let selectors = selectors::Selectors::of(paged_forum::PagedForum::Phpbb, &domain::media::forum::SelectorOverrides::default()).unwrap();
            let _ = forum_page::read(&String::from_utf8_lossy(&body), &base(), &selectors);
        }
    }
}
