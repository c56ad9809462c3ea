//! Bodies of services with a content coding that was not asked for.

use std::io::Write;

use domain::task::role::Role;
use flate2::Compression;
use flate2::write::GzEncoder;
use rstest::rstest;
use serde_json::{Value, json};
use sim::media::{AfterAnswer, MediaPlan, RawAnswer, RawReceiver};

use super::harness::MediaHarness;

/// The result of a sync of one person, and the error of the job.
async fn sync(coding: &str, body: Vec<u8>) -> Result<Value, String> {
    let head = format!("HTTP/1.1 200 OK\r\ncontent-encoding: {coding}\r\ncontent-length: {}\r\n\r\n", body.len());
    let answer = RawAnswer::new([head.into_bytes(), body].concat(), AfterAnswer::Close);
    let service = RawReceiver::start(vec![answer]).await.unwrap();
    let harness = MediaHarness::with(MediaPlan::default(), &[("media.tmdb_url", &service.url())]).await;
    harness.watch(42).await;
    harness.add_key("tmdb.token").await;
    let outcome = harness.run(Role::AppearancesSync, json!({})).await;
    outcome.map_err(|error| error.to_string())?;
    Ok(json!(harness.number("SELECT count(*) FROM appearances").await))
}

fn credits() -> Vec<u8> {
    let credit = json!({"credit_id": "a", "id": 7, "media_type": "movie", "title": "Dusk"});
    json!({"cast": [credit], "crew": []}).to_string().into_bytes()
}

fn zipped(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

#[rstest]
#[case::gzip("gzip", zipped(&credits()))]
#[case::an_old_name("X-GZip", zipped(&credits()))]
#[case::identity_too("identity, gzip", zipped(&credits()))]
#[case::bytes_behind_it("gzip", [zipped(&credits()), vec![0; 9]].concat())]
#[case::none("none", credits())]
#[case::empty("", credits())]
#[tokio::test]
async fn a_body_that_is_compressed_unasked_is_read(#[case] coding: &str, #[case] body: Vec<u8>) {
    assert_eq!(sync(coding, body).await, Ok(json!(1)));
}

#[rstest]
#[case::cut("gzip", zipped(&credits())[..20].to_vec(), "cut off")]
#[case::not_what_it_says("gzip", credits(), "cannot be decompressed")]
#[case::another_coding("br", credits(), "compressed as br")]
#[case::a_bomb("gzip", zipped(&vec![b' '; 17 << 20]), "larger than")]
#[tokio::test]
async fn a_body_that_cannot_be_decompressed_says_why(#[case] coding: &str, #[case] body: Vec<u8>, #[case] says: &str) {
    let error = sync(coding, body).await.unwrap_err();
    assert!(error.contains(says), "{error}");
}
