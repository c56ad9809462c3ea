//! Content codings: every one that is offered is read, others are errors, and the received bytes are kept as
//! they were.

use std::io::Cursor;

use async_compression::tokio::bufread::{BrotliEncoder, DeflateEncoder, GzipEncoder, ZlibEncoder, ZstdEncoder};
use drover::stealth::{FetchError, RequestKind, Response, SessionAsk};
use rstest::rstest;
use tokio::io::{AsyncRead, AsyncReadExt};

use super::support::{ForwardProxy, Manner, Origin, Reply, Setup, content, pool_of, request};

const BODY: &[u8] = br#"{"data":{"filteredProducts":{"products":[]}}}"#;

async fn all(mut coded: impl AsyncRead + Unpin) -> Vec<u8> {
    let mut bytes = Vec::new();
    coded.read_to_end(&mut bytes).await.unwrap();
    bytes
}

async fn coded(coding: &str, body: &[u8]) -> Vec<u8> {
    let body = Cursor::new(body.to_vec());
    match coding {
        "gzip" => all(GzipEncoder::new(body)).await,
        "deflate" => all(ZlibEncoder::new(body)).await,
        "raw deflate" => all(DeflateEncoder::new(body)).await,
        "br" => all(BrotliEncoder::new(body)).await,
        "zstd" => all(ZstdEncoder::new(body)).await,
        other => panic!("{other}"),
    }
}

async fn fetch(fingerprint: &str, reply: Reply) -> Result<Response, FetchError> {
    let origin = Origin::plain().await;
    let proxy = ForwardProxy::http(origin.address, Manner::Willing).await;
    let mut session = Setup::default().only(fingerprint).sessions(&pool_of(&[&proxy])).open(SessionAsk::default());
    origin.script([reply]);
    session.send(&request(RequestKind::Fetch, "http"), &content).await.map(|(response, ())| response)
}

#[rstest]
#[case::gzip("gzip", "gzip")]
#[case::zlib("deflate", "deflate")]
#[case::raw_deflate("raw deflate", "deflate")]
#[case::brotli("br", "br")]
#[case::zstandard("zstd", "zstd")]
#[case::in_capitals("gzip", "GZIP")]
#[case::an_alias("deflate", "x-deflate")]
#[tokio::test]
async fn every_offered_coding_is_read(#[case] made: &str, #[case] named: &str) {
    let raw = coded(made, BODY).await;
    let response =
        fetch("chrome-131-windows", Reply::json("").with("content-encoding", named).body(&raw)).await.unwrap();
    assert_eq!((response.body.as_ref(), response.raw.as_ref()), (BODY, raw.as_slice()));
}

#[tokio::test]
async fn several_gzip_members_are_one_body() {
    let raw = [coded("gzip", &BODY[..10]).await, coded("gzip", &BODY[10..]).await].concat();
    let response =
        fetch("safari-17.2-macos", Reply::json("").with("content-encoding", "gzip").body(&raw)).await.unwrap();
    assert!(response.is_gzip());
    assert_eq!((response.body.as_ref(), response.raw.as_ref()), (BODY, raw.as_slice()));
}

#[rstest]
#[case::zstd_to_safari("safari-18.4-macos", "zstd")]
#[case::zstd_to_chrome_120("chrome-120-macos", "zstd")]
#[case::one_of_two("safari-18.4-macos", "gzip, zstd")]
#[case::registered_and_outdated("chrome-131-windows", "compress")]
#[case::its_alias("chrome-131-windows", "X-Compress")]
#[tokio::test]
async fn a_coding_that_was_not_offered_is_a_decode_error(#[case] fingerprint: &str, #[case] coding: &str) {
    let raw = coded("zstd", BODY).await;
    let error = fetch(fingerprint, Reply::json("").with("content-encoding", coding).body(&raw)).await.unwrap_err();
    assert!(matches!(&error, FetchError::Decode { reason, .. } if reason.contains("not offered")), "{error}");
}

#[rstest]
#[case::alias("x-gzip")]
#[case::with_identity("identity, gzip")]
#[case::identity_behind_it("gzip,identity, ")]
#[case::beside_an_unregistered_name("utf-8, gzip")]
#[tokio::test]
async fn gzip_by_other_names_is_kept_as_it_came(#[case] coding: &str) {
    let raw = coded("gzip", BODY).await;
    let response =
        fetch("chrome-131-windows", Reply::json("").with("content-encoding", coding).body(&raw)).await.unwrap();
    assert!(response.is_gzip());
    assert_eq!((response.body.as_ref(), response.raw.as_ref()), (BODY, raw.as_slice()));
}

#[rstest]
#[case::none("none")]
#[case::identity("Identity")]
#[case::a_charset("UTF-8")]
#[case::binary("binary")]
#[case::empty("")]
#[case::two_of_them("none, 7bit")]
#[tokio::test]
async fn a_name_that_no_coding_is_registered_under_is_none(#[case] coding: &str) {
    let reply = Reply::json("").with("content-encoding", coding).body(BODY);
    let response = fetch("chrome-131-windows", reply).await.unwrap();
    assert!(!response.is_gzip());
    assert_eq!((response.body.as_ref(), response.raw.as_ref()), (BODY, BODY));
}

#[rstest]
#[case::in_one_field(&["gzip, gzip"], 2)]
#[case::in_two_fields(&["gzip", "gzip"], 2)]
#[case::three(&["gzip, identity, gzip, gzip"], 3)]
#[tokio::test]
async fn several_codings_come_off_one_after_the_other(#[case] fields: &[&'static str], #[case] times: usize) {
    let mut raw = BODY.to_vec();
    for _ in 0..times {
        raw = coded("gzip", &raw).await;
    }
    let reply = fields.iter().fold(Reply::json("").body(&raw), |reply, field| reply.with("content-encoding", field));
    let response = fetch("chrome-131-windows", reply).await.unwrap();
    assert!(!response.is_gzip());
    assert_eq!(response.body.as_ref(), BODY);
}

#[tokio::test]
async fn more_codings_than_any_server_applies_are_refused() {
    let reply = Reply::json("{}").with("content-encoding", "gzip, gzip, gzip, gzip");
    let error = fetch("chrome-131-windows", reply).await.unwrap_err();
    assert!(matches!(&error, FetchError::Decode { reason, .. } if reason.contains("more than 3")), "{error}");
}

#[rstest]
#[tokio::test]
async fn bytes_behind_the_end_of_a_coding_are_ignored(
    #[values("gzip", "deflate", "br", "zstd")] coding: &str,
    #[values(&b"\n"[..], &[0; 512][..], b"<!-- served by cache -->")] behind: &[u8],
) {
    let raw = coded(coding, BODY).await;
    let reply = Reply::json("").with("content-encoding", coding).body(&[&raw, behind].concat());
    let response = fetch("chrome-131-windows", reply).await.unwrap();
    assert_eq!(response.body.as_ref(), BODY);
    // the members alone are kept as a payload
    assert!(!response.is_gzip() || response.raw.as_ref() == raw);
}

#[tokio::test]
async fn several_frames_of_zstandard_are_one_body() {
    let raw = [coded("zstd", &BODY[..10]).await, coded("zstd", &BODY[10..]).await, b"\n".to_vec()].concat();
    let reply = Reply::json("").with("content-encoding", "zstd").body(&raw);
    let response = fetch("chrome-131-windows", reply).await.unwrap();
    assert_eq!(response.body.as_ref(), BODY);
}

#[rstest]
#[case::utf8([b"\xef\xbb\xbf", BODY].concat())]
#[case::utf16([vec![0xff, 0xfe], BODY.iter().flat_map(|byte| [*byte, 0]).collect()].concat())]
#[tokio::test]
async fn a_byte_order_mark_in_front_of_json_is_taken_off(#[case] marked: Vec<u8>, #[values("", "gzip")] coding: &str) {
    let raw = if coding.is_empty() { marked } else { coded(coding, &marked).await };
    let reply = Reply::json("").with("content-encoding", coding).body(&raw);
    let response = fetch("chrome-131-windows", reply).await.unwrap();
    // a payload's reader expects no mark
    assert!(!response.is_gzip());
    assert_eq!(response.body.as_ref(), BODY);
}

#[tokio::test]
async fn a_page_behind_a_byte_order_mark_is_a_challenge() {
    let error = fetch("chrome-131-windows", Reply::json("\u{feff}<html></html>")).await.unwrap_err();
    assert!(matches!(error, FetchError::Challenged { .. }), "{error}");
}

#[tokio::test]
async fn a_body_that_is_not_what_it_says_is_a_decode_error() {
    let error = fetch("chrome-131-windows", Reply::json("this is text and no gzip").with("content-encoding", "gzip"))
        .await
        .unwrap_err();
    assert!(matches!(error, FetchError::Decode { .. }), "{error}");
}

#[rstest]
#[tokio::test]
async fn a_bomb_is_stopped_at_the_limit(#[values("gzip", "deflate", "br", "zstd")] coding: &str) {
    let raw = coded(coding, &vec![b' '; 8 << 20]).await;
    assert!(raw.len() < 64 << 10);
    let error =
        fetch("chrome-131-windows", Reply::json("").with("content-encoding", coding).body(&raw)).await.unwrap_err();
    assert!(matches!(error, FetchError::TooLarge { limit, .. } if limit == 1 << 20), "{error}");
}

#[tokio::test]
async fn a_plain_body_beyond_the_limit_is_too_large() {
    let error = fetch("chrome-131-windows", Reply::json("").body(&vec![b' '; (1 << 20) + 1])).await.unwrap_err();
    assert!(matches!(error, FetchError::TooLarge { .. }), "{error}");
}
