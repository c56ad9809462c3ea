//! Files of the site: their bytes, their ranges, their proofs.

use bytes::Bytes;
use http::Method;
use sim::media::{AccountKind, MediaPlan, MediaSite};

use super::client::{ask, get, get_with, sha256, start};
use crate::support::PATIENCE;

#[tokio::test]
async fn every_file_of_an_account_has_the_bytes_of_the_oracle() {
    let site = start().await;
    let account = site.account(AccountKind::Mastodon, "alice").unwrap();
    assert!(account.files().count() >= 5);
    for file in account.files() {
        let answer = get(&site, &file.path).await;
        assert_eq!((answer.status.as_u16(), answer.header("content-type")), (200, file.media_type));
        assert_eq!((sha256(&answer.body), answer.body.len() as u64), (file.sha256.clone(), file.size()));
        assert_eq!(site.bytes_sent(&file.path), file.size());
    }
}

#[tokio::test]
async fn a_post_may_repeat_the_bytes_of_another() {
    let site = start().await;
    let alice = site.account(AccountKind::Mastodon, "alice").unwrap();
    let (newest, oldest) = (&alice.posts[0].files[0], &alice.posts.last().unwrap().files[0]);
    assert_eq!(newest.sha256, oldest.sha256);
    assert_ne!(newest.path, oldest.path);
}

#[tokio::test]
async fn the_same_plan_makes_the_same_site_and_another_seed_another() {
    let hashes = async |seed| {
        let site = MediaSite::start(MediaPlan { seed, ..MediaPlan::default() }).await.unwrap();
        (site.accounts(), site.threads(), site.search("quiet harbor"), site.person(42))
    };
    assert_eq!(hashes(3).await, hashes(3).await);
    assert_ne!(hashes(3).await, hashes(4).await);
}

#[tokio::test]
async fn ranges_are_parts_while_the_file_is_the_same() {
    let site = start().await;
    let file = video(&site);
    let whole = get(&site, &file.path).await;
    let (etag, date) = (whole.header("etag"), whole.header("last-modified"));
    assert!(etag.starts_with('"'));
    for proof in [etag, date] {
        let part = get_with(&site, &file.path, &[("range", "bytes=100000-"), ("if-range", proof)]).await;
        assert_eq!((part.status.as_u16(), &part.body[..]), (206, &file.content[100_000..]));
        let range = format!("bytes 100000-{}/{}", file.size() - 1, file.size());
        assert_eq!(part.header("content-range"), range);
    }
    let other = get_with(&site, &file.path, &[("range", "bytes=100000-"), ("if-range", "\"other\"")]).await;
    assert_eq!((other.status.as_u16(), other.body.len() as u64), (200, file.size()));
    let behind = get_with(&site, &file.path, &[("range", &format!("bytes={}-", file.size()))]).await;
    assert_eq!((behind.status.as_u16(), behind.header("content-range")), (416, &*format!("bytes */{}", file.size())));
}

#[tokio::test]
async fn a_head_has_the_length_and_no_bytes() {
    let site = start().await;
    let file = video(&site);
    let head = ask(&site.address(&file.path), Method::HEAD, &[], Bytes::new()).await.unwrap();
    assert_eq!((head.status.as_u16(), head.header("content-length")), (200, &*file.size().to_string()));
    assert_eq!((head.body.len(), site.bytes_sent(&file.path)), (0, 0));
}

#[tokio::test]
async fn a_site_that_is_dropped_frees_its_port() {
    let site = start().await;
    let address = site.address("/watch?v=none");
    drop(site);
    let refused = async || ask(&address, Method::GET, &[], Bytes::new()).await.is_err();
    let until_refused = async {
        while !refused().await {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, until_refused).await.unwrap();
}

fn video(site: &MediaSite) -> sim::media::MediaFile {
    site.channel("UCabcdefghijklmnopqrstuv").unwrap().videos.swap_remove(0).file
}
