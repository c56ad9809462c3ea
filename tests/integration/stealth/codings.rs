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
#[case::two_at_once("chrome-131-windows", "gzip, br")]
#[case::unheard_of("chrome-131-windows", "compress")]
#[tokio::test]
async fn a_coding_that_was_not_offered_is_a_decode_error(#[case] fingerprint: &str, #[case] coding: &str) {
    let raw = coded("zstd", BODY).await;
    let error = fetch(fingerprint, Reply::json("").with("content-encoding", coding).body(&raw)).await.unwrap_err();
    assert!(matches!(&error, FetchError::Decode { reason, .. } if reason.contains("not offered")), "{error}");
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
