//! The format of a payload file: one JSON document, gzipped in members, with each answer of upstream in it
//! unchanged. Pure.
//!
//! An answer that came gzipped becomes a member as it is: compressing it again would take more CPU than the
//! rest of a crawl.

use std::io::{self, Write};
use std::ops::Range;

use bytes::Bytes;
use chrono::{DateTime, Utc};
use flate2::write::GzEncoder;
use flate2::{Compression, Crc};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use thiserror::Error;

use domain::payload::{MAX_MENU_BYTES, PageQuestion, StoredPage};
use domain::store::{Platform, StoreId};
use foundation::inflate::{self, InflateError};

const VERSION: u32 = 1;
/// Measured on menu pages: three fifths of level 6's time for a sixth more bytes.
pub const LEVEL: Compression = Compression::new(3);
/// Maximum number of bytes that are stored as they are: an encoder's memory would take more time than they save.
const MAX_STORED: u16 = 1024;
/// Pages, and what a document holds beside them. A hostile one is not inflated further.
pub const MAX_DOCUMENT_BYTES: usize = MAX_MENU_BYTES + (1 << 20);

/// The facts at the head of a payload.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PayloadHead {
    pub platform: Platform,
    pub dispensary_id: StoreId,
    pub platform_dispensary_id: String,
    pub fetched_at: DateTime<Utc>,
    /// Products that upstream announced.
    pub total_count: usize,
}

/// One answer of upstream: a JSON text.
#[derive(Clone, Debug)]
pub struct PageBytes {
    /// Gzip members as received, or the text without any coding.
    pub bytes: Bytes,
    /// Whether `bytes` are gzip members; they are kept as they are.
    pub is_gzip: bool,
    pub question: PageQuestion,
}

/// Content of a payload file.
#[derive(Clone, Debug)]
pub struct PayloadContent {
    pub head: PayloadHead,
    pub pages: Vec<PageBytes>,
}

/// A payload file as read back.
#[derive(Debug)]
pub struct StoredMenu {
    pub head: PayloadHead,
    document: String,
    pages: Vec<Range<usize>>,
    /// One a page; none in files written before questions were kept.
    questions: Vec<PageQuestion>,
}

impl StoredMenu {
    /// The answers of upstream, in their order.
    pub fn pages(&self) -> Vec<StoredPage<'_>> {
        let body = |range: &Range<usize>| &self.document.as_bytes()[range.clone()];
        let pages = self.pages.iter().enumerate();
        pages.map(|(n, range)| StoredPage { question: self.questions.get(n), body: body(range) }).collect()
    }
}

#[derive(Debug, Error)]
pub enum Damage {
    #[error("{0}")]
    Gzip(#[from] InflateError),
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    #[error("it has version {0}, and this program reads version {VERSION}")]
    Version(u32),
    #[error("it is not UTF-8")]
    Utf8,
}

/// The bytes of a payload file.
pub fn encode(content: &PayloadContent) -> io::Result<Vec<u8>> {
    let mut file = Vec::with_capacity(content.pages.iter().map(|page| page.bytes.len()).sum());
    let head = serde_json::to_string(&VersionedHead { version: VERSION, head: &content.head })?;
    member(&mut file, format!("{},\"pages\":[", head.strip_suffix('}').unwrap_or(&head)).as_bytes())?;
    for (number, page) in content.pages.iter().enumerate() {
        if number > 0 {
            member(&mut file, b",")?;
        }
        if page.is_gzip {
            file.extend_from_slice(&page.bytes);
        } else {
            member(&mut file, &page.bytes)?;
        }
    }
    let questions: Vec<&PageQuestion> = content.pages.iter().map(|page| &page.question).collect();
    member(&mut file, format!("],\"questions\":{}}}", serde_json::to_string(&questions)?).as_bytes())?;
    Ok(file)
}

/// Reads the bytes of a payload file back.
pub fn decode(file: &[u8]) -> Result<StoredMenu, Damage> {
    let document = String::from_utf8(inflate::gzip(file, MAX_DOCUMENT_BYTES)?).map_err(|_| Damage::Utf8)?;
    read(document)
}

fn member(file: &mut Vec<u8>, text: &[u8]) -> io::Result<()> {
    if let Ok(length @ ..=MAX_STORED) = u16::try_from(text.len()) {
        stored_member(file, text, length);
        return Ok(());
    }
    let mut encoder = GzEncoder::new(file, LEVEL);
    encoder.write_all(text)?;
    encoder.finish().map(drop)
}

/// Adds a member that is not compressed.
fn stored_member(file: &mut Vec<u8>, text: &[u8], length: u16) {
    let mut sum = Crc::new();
    sum.update(text);
    // no name, no time, unknown system; one block, which is the last and stored
    file.extend_from_slice(&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1]);
    file.extend_from_slice(&length.to_le_bytes());
    file.extend_from_slice(&(!length).to_le_bytes());
    file.extend_from_slice(text);
    file.extend_from_slice(&sum.sum().to_le_bytes());
    file.extend_from_slice(&u32::from(length).to_le_bytes());
}

fn read(document: String) -> Result<StoredMenu, Damage> {
    let whole: Document<'_> = serde_json::from_str(&document)?;
    if whole.version != VERSION {
        return Err(Damage::Version(whole.version));
    }
    let place = |page: &&RawValue| {
        let start = page.get().as_ptr() as usize - document.as_ptr() as usize;
        start..start + page.get().len()
    };
    let pages = whole.pages.iter().map(place).collect();
    let head = PayloadHead {
        platform: whole.platform,
        dispensary_id: whole.dispensary_id,
        platform_dispensary_id: whole.platform_dispensary_id,
        fetched_at: whole.fetched_at,
        total_count: whole.total_count,
    };
    let questions = whole.questions;
    Ok(StoredMenu { head, document, pages, questions })
}

#[derive(Serialize)]
struct VersionedHead<'a> {
    version: u32,
    #[serde(flatten)]
    head: &'a PayloadHead,
}

/// The fields of [`PayloadHead`] repeated: raw values cannot be combined with flattened ones.
#[derive(Deserialize)]
struct Document<'a> {
    version: u32,
    platform: Platform,
    dispensary_id: StoreId,
    platform_dispensary_id: String,
    fetched_at: DateTime<Utc>,
    total_count: usize,
    #[serde(borrow)]
    pages: Vec<&'a RawValue>,
    #[serde(default)]
    questions: Vec<PageQuestion>,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    fn head() -> PayloadHead {
        PayloadHead {
            platform: Platform::Dutchie,
            dispensary_id: 7,
            platform_dispensary_id: "a\"b}".to_owned(),
            fetched_at: DateTime::from_timestamp_millis(1_758_030_118_081).unwrap(),
            total_count: 3,
        }
    }

    fn question() -> PageQuestion {
        PageQuestion { operation: "FilteredProducts".to_owned(), cursor: serde_json::json!({"page": 0}) }
    }

    fn plain(body: &'static str) -> PageBytes {
        PageBytes { bytes: Bytes::from(body), is_gzip: false, question: question() }
    }

    /// Text as an origin would send it: in several members.
    fn gzipped(parts: &[&'static str]) -> PageBytes {
        let mut raw = Vec::new();
        parts.iter().for_each(|part| member(&mut raw, part.as_bytes()).unwrap());
        PageBytes { bytes: raw.into(), is_gzip: true, question: question() }
    }

    /// A text that is worth compressing.
    fn long() -> &'static str {
        format!("\"{}\"", "x".repeat(2 * usize::from(MAX_STORED))).leak()
    }

    #[rstest]
    #[case::none(vec![], vec![])]
    #[case::plain(vec![plain(r#"{"a": [1, 2]}"#)], vec![r#"{"a": [1, 2]}"#])]
    #[case::long(vec![plain(long())], vec![long()])]
    #[case::mixed(vec![gzipped(&["{\"a\"", ": 1.50}"]), plain("{}"), gzipped(&["[]"])], vec![r#"{"a": 1.50}"#, "{}", "[]"])]
    fn pages_come_back_untouched(#[case] pages: Vec<PageBytes>, #[case] expected: Vec<&str>) {
        let stored = decode(&encode(&PayloadContent { head: head(), pages }).unwrap()).unwrap();
        assert_eq!(stored.head, head());
        let bodies: Vec<_> = stored.pages().iter().map(|page| page.body).collect();
        assert_eq!(bodies, expected.iter().map(|page| page.as_bytes()).collect::<Vec<_>>());
        assert!(stored.pages().iter().all(|page| page.question == Some(&question())));
    }

    #[test]
    fn what_came_gzipped_is_kept_as_it_came() {
        let page = gzipped(&["{\"a\": 1}"]);
        let raw = page.bytes.clone();
        let file = encode(&PayloadContent { head: head(), pages: vec![page] }).unwrap();
        assert!(file.windows(raw.len()).any(|window| window == raw));
    }

    #[test]
    fn the_document_has_the_fields_of_its_contract() {
        let file = encode(&PayloadContent { head: head(), pages: vec![plain("{}")] }).unwrap();
        let document: serde_json::Value =
            serde_json::from_slice(&inflate::gzip(&file, MAX_DOCUMENT_BYTES).unwrap()).unwrap();
        let expected = serde_json::json!({
            "version": 1, "platform": "dutchie", "dispensary_id": 7, "platform_dispensary_id": "a\"b}",
            "fetched_at": "2025-09-16T13:41:58.081Z", "total_count": 3, "pages": [{}],
            "questions": [{"operation": "FilteredProducts", "cursor": {"page": 0}}],
        });
        assert_eq!(document, expected);
    }

    #[test]
    fn a_file_without_questions_is_read() {
        let document = r#"{"version":1,"platform":"dutchie","dispensary_id":7,"platform_dispensary_id":"a",
                           "fetched_at":"2025-09-16T13:41:58.081Z","total_count":3,"pages":[{"a":1}]}"#;
        let mut file = Vec::new();
        member(&mut file, document.as_bytes()).unwrap();
        let stored = decode(&file).unwrap();
        assert!(stored.pages()[0].question.is_none());
        assert_eq!(stored.pages()[0].body, br#"{"a":1}"#);
    }

    #[rstest]
    #[case::no_gzip(b"{}".to_vec())]
    #[case::empty(Vec::new())]
    #[case::truncated({ let mut file = encode(&PayloadContent { head: head(), pages: vec![plain("{}")] }).unwrap(); file.truncate(40); file })]
    #[case::another_document({ let mut file = Vec::new(); member(&mut file, b"{\"pages\":[]}").unwrap(); file })]
    fn damage_is_an_error(#[case] file: Vec<u8>) {
        assert!(decode(&file).is_err());
    }

    #[test]
    fn the_largest_menu_that_is_kept_is_read() {
        let blank = " ".repeat(MAX_MENU_BYTES / 2 - 2).leak();
        let page = gzipped(&[blank, "{}"]);
        let file = encode(&PayloadContent { head: head(), pages: vec![page.clone(), page] }).unwrap();
        assert_eq!(decode(&file).unwrap().pages().len(), 2);
    }

    proptest! {
        #[test]
        fn no_file_panics(bytes in prop::collection::vec(any::<u8>(), 0..200), document in r#"[{}\[\]":,a-z0-9]{0,60}"#) {
            let mut file = Vec::new();
            member(&mut file, document.as_bytes()).unwrap();
            let _ = (decode(&bytes), decode(&file));
        }
    }
}
