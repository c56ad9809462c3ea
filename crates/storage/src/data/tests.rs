//! Payload files of one and of several gzip members, read as streams.

use std::fs;
use std::io::Read;

use bytes::Bytes;
use flate2::Compression;
use flate2::bufread::{GzDecoder, MultiGzDecoder as ReadMembers};
use futures_util::TryStreamExt;
use rstest::rstest;

use super::*;
use crate::{PageBytes, PayloadContent, PayloadFile, PayloadHead};
use domain::payload::PageQuestion;
use domain::store::Platform;
use foundation::digest::sha256_hex;

const PATH: &str = "payloads/2025/11/07/store_5_20251107T093000123Z.json.gz";

struct Stored {
    _dir: tempfile::TempDir,
    files: Payloads,
    file: std::path::PathBuf,
    sha256: String,
}

impl Stored {
    /// A payload as a crawl writes it: a member before the pages, one a page, and one after them.
    async fn of_members(body: &str) -> Stored {
        let (dir, files) = storage();
        let head = PayloadHead {
            platform: Platform::Dutchie,
            dispensary_id: 5,
            platform_dispensary_id: "some id".to_owned(),
            fetched_at: "2025-11-07T09:30:00.123Z".parse().unwrap(),
            total_count: 1,
        };
        let question = PageQuestion { operation: "FilteredProducts".to_owned(), cursor: serde_json::Value::Null };
        let page = PageBytes { bytes: Bytes::from(body.to_owned()), is_gzip: false, question };
        let PayloadFile { storage_path, sha256, .. } =
            files.write(PayloadContent { head, pages: vec![page] }).await.unwrap();
        assert_eq!(storage_path, PATH);
        Stored { file: dir.path().join(PATH), _dir: dir, files, sha256 }
    }

    async fn of_one_member(body: &str) -> Stored {
        let stored = Stored::of_members("{}").await;
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(body.as_bytes()).unwrap();
        stored.holding(&encoder.finish().unwrap())
    }

    /// The payload with other bytes, which its row knows.
    fn holding(self, bytes: &[u8]) -> Stored {
        fs::write(&self.file, bytes).unwrap();
        Stored { sha256: sha256_hex(bytes), ..self }
    }

    fn bytes(&self) -> Vec<u8> {
        fs::read(&self.file).unwrap()
    }

    fn text(&self) -> String {
        let mut text = String::new();
        ReadMembers::new(self.bytes().as_slice()).read_to_string(&mut text).unwrap();
        text
    }

    async fn open(&self, form: PayloadForm, around: SurroundingText) -> Result<PayloadData, StorageError> {
        self.files.open(PATH, &self.sha256, form, around).await
    }

    async fn read(&self, form: PayloadForm) -> (Option<u64>, Vec<u8>) {
        self.read_within(form, SurroundingText::default()).await
    }

    async fn read_within(&self, form: PayloadForm, around: SurroundingText) -> (Option<u64>, Vec<u8>) {
        let data = self.open(form, around).await.unwrap();
        (data.bytes, data.parts.try_collect::<Vec<_>>().await.unwrap().concat())
    }

    async fn refusal(&self, form: PayloadForm) -> StorageError {
        self.open(form, SurroundingText::default()).await.err().expect("it is refused before the first part")
    }
}

fn storage() -> (tempfile::TempDir, Payloads) {
    let dir = tempfile::tempdir().unwrap();
    let files = Payloads::new(dir.path(), "id 5 9");
    (dir, files)
}

fn around() -> SurroundingText {
    SurroundingText { before: r#"{"data":"#.to_owned(), after: "}".to_owned() }
}

/// A text of several parts that no gzip makes small.
fn long_text() -> String {
    let noise = (0..40_000_u32).map(|n| format!("{:x}", n.wrapping_mul(2_654_435_761)));
    format!(r#"{{"noise":"{}"}}"#, noise.collect::<String>())
}

/// The text of the first member, which must be the only one.
fn only_member(bytes: &[u8]) -> String {
    let mut text = String::new();
    let mut member = GzDecoder::new(bytes);
    member.read_to_string(&mut text).unwrap();
    assert!(member.into_inner().is_empty(), "there are more members");
    text
}

#[rstest]
#[case::short("{}".to_owned())]
#[case::long(long_text())]
#[tokio::test]
async fn each_form_of_a_file_of_members_holds_its_text(#[case] body: String) {
    let stored = Stored::of_members(&body).await;
    let file = stored.bytes();
    assert_eq!(stored.read(PayloadForm::File).await, (Some(file.len() as u64), file));
    let text = stored.text();
    assert!(text.contains(&body));
    assert_eq!(stored.read(PayloadForm::Json).await, (None, text.clone().into_bytes()));
    let (length, gzip) = stored.read(PayloadForm::Gzip).await;
    assert_eq!((length, only_member(&gzip)), (None, text));
}

#[rstest]
#[case::short("{}".to_owned())]
#[case::long(long_text())]
#[tokio::test]
async fn a_file_of_one_member_is_passed_through(#[case] body: String) {
    let stored = Stored::of_one_member(&body).await;
    let file = stored.bytes();
    assert_eq!(stored.read(PayloadForm::Gzip).await, (Some(file.len() as u64), file));
    assert_eq!(stored.read(PayloadForm::Json).await, (None, body.into_bytes()));
}

#[rstest]
#[tokio::test]
async fn text_around_a_payload_is_part_of_the_one_text(#[values(false, true)] is_one_member: bool) {
    let stored = match is_one_member {
        true => Stored::of_one_member("[1]").await,
        false => Stored::of_members("[1]").await,
    };
    let expected = format!("{}{}{}", around().before, stored.text(), around().after);
    assert_eq!(stored.read_within(PayloadForm::Json, around()).await.1, expected.as_bytes());
    assert_eq!(only_member(&stored.read_within(PayloadForm::Gzip, around()).await.1), expected);
}

#[rstest]
#[tokio::test]
async fn a_changed_file_is_refused_before_its_first_part(
    #[values(PayloadForm::File, PayloadForm::Gzip, PayloadForm::Json)] form: PayloadForm,
) {
    let stored = Stored::of_members(&long_text()).await;
    let mut bytes = stored.bytes();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&stored.file, bytes).unwrap();
    assert!(matches!(stored.refusal(form).await, StorageError::Corrupt { .. }));
}

#[rstest]
#[tokio::test]
async fn a_removed_file_is_missing(
    #[values(PayloadForm::File, PayloadForm::Gzip, PayloadForm::Json)] form: PayloadForm,
) {
    let stored = Stored::of_members("{}").await;
    fs::remove_file(&stored.file).unwrap();
    assert!(matches!(stored.refusal(form).await, StorageError::Missing { .. }));
}

#[tokio::test]
async fn a_file_that_is_no_gzip_is_damaged_whatever_its_hash() {
    let stored = Stored::of_members("{}").await.holding(b"rubbish");
    assert!(matches!(stored.refusal(PayloadForm::Gzip).await, StorageError::Corrupt { .. }));
    let parts = stored.open(PayloadForm::Json, SurroundingText::default()).await.unwrap().parts;
    let error = parts.try_collect::<Vec<_>>().await.unwrap_err();
    assert!(matches!(error, StorageError::Corrupt { .. }), "{error}");
}

#[tokio::test]
async fn a_bomb_is_cut_at_the_size_of_the_largest_payload() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let zeros = vec![b'0'; 1 << 20];
    for _ in 0..=(MAX_DOCUMENT_BYTES >> 20) {
        encoder.write_all(&zeros).unwrap();
    }
    let stored = Stored::of_members("{}").await.holding(&encoder.finish().unwrap());
    let mut parts = stored.open(PayloadForm::Json, SurroundingText::default()).await.unwrap().parts;
    let mut read = 0;
    let error = loop {
        match parts.try_next().await {
            Ok(part) => read += part.expect("it is no whole payload").len(),
            Err(error) => break error,
        }
    };
    assert!(error.to_string().contains("more than"), "{error}");
    assert!(read <= MAX_DOCUMENT_BYTES);
}

#[tokio::test]
async fn a_reader_that_stops_holds_nothing() {
    let stored = Stored::of_members(&long_text()).await;
    let mut parts = stored.open(PayloadForm::Json, SurroundingText::default()).await.unwrap().parts;
    assert!(parts.try_next().await.unwrap().is_some());
    drop(parts);
    assert!(stored.read(PayloadForm::Json).await.1.len() > 100_000);
}
