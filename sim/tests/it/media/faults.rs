//! Each fault as a client sees it.

use std::time::{Duration, Instant};

use bytes::Bytes;
use http::Method;
use sim::media::{MediaFault, MediaFaultKind, MediaFile, MediaSite, Origin};

use super::client::{Answer, Headers, ask, get, get_with, sha256, start};

const FROM: Headers<'static> = &[("range", "bytes=1000-")];

/// A site with that fault at a video.
async fn with(kinds: &[MediaFaultKind]) -> (MediaSite, MediaFile) {
    let site = start().await;
    let file = site.channel("UCabcdefghijklmnopqrstuv").unwrap().videos.swap_remove(0).file;
    kinds.iter().for_each(|kind| site.add_fault(&file.path, MediaFault::new(kind.clone())));
    (site, file)
}

async fn answer(kind: MediaFaultKind) -> Answer {
    let (site, file) = with(&[kind]).await;
    get(&site, &file.path).await
}

#[tokio::test]
async fn proofs_are_weak_or_missing() {
    let weak = answer(MediaFaultKind::WeakEtag).await;
    assert!(weak.header("etag").starts_with("W/\"") && !weak.header("last-modified").is_empty());
    let date = answer(MediaFaultKind::DateOnly).await;
    assert!(date.header("etag").is_empty() && date.header("last-modified").ends_with(" GMT"));
    let none = answer(MediaFaultKind::NoProof).await;
    assert!(none.header("etag").is_empty() && none.header("last-modified").is_empty());
}

#[tokio::test]
async fn a_weak_etag_proves_no_range() {
    let (site, file) = with(&[MediaFaultKind::WeakEtag]).await;
    let etag = get(&site, &file.path).await.header("etag").to_owned();
    let again = get_with(&site, &file.path, &[("range", "bytes=5-"), ("if-range", &etag)]).await;
    assert_eq!(again.status, 200);
}

#[tokio::test]
async fn a_file_changes_under_a_download() {
    let (site, file) = with(&[]).await;
    site.add_fault(&file.path, MediaFault::new(MediaFaultKind::Changed).after(1));
    let first = get(&site, &file.path).await;
    let second = get_with(&site, &file.path, &[("range", "bytes=5-"), ("if-range", first.header("etag"))]).await;
    assert_eq!((second.status.as_u16(), sha256(&first.body)), (200, file.sha256.clone()));
    assert_eq!(sha256(&second.body), site.changed_file(&file.path).unwrap().sha256);
    assert_ne!((first.header("etag"), sha256(&first.body)), (second.header("etag"), sha256(&second.body)));
    assert_ne!(first.header("last-modified"), second.header("last-modified"));
}

#[tokio::test]
async fn if_range_and_range_are_ignored() {
    let (site, file) = with(&[MediaFaultKind::IgnoresIfRange]).await;
    let part = get_with(&site, &file.path, &[("range", "bytes=5-"), ("if-range", "\"other\"")]).await;
    assert_eq!(part.status, 206);
    let (site, file) = with(&[MediaFaultKind::IgnoresRange]).await;
    assert_eq!(get_with(&site, &file.path, FROM).await.status, 200);
}

#[tokio::test]
async fn a_content_range_lies() {
    let (site, file) = with(&[MediaFaultKind::LyingStart]).await;
    let part = get_with(&site, &file.path, FROM).await;
    assert_eq!(part.header("content-range"), format!("bytes 1001-{}/{}", file.size() - 1, file.size()));
    assert_eq!(part.body, file.content.slice(1000..));
    let (site, file) = with(&[MediaFaultKind::LyingTotal]).await;
    let part = get_with(&site, &file.path, FROM).await;
    assert_eq!(part.header("content-range"), format!("bytes 1000-{}/{}", file.size() - 1, file.size() + 1));
}

#[tokio::test]
async fn statuses_take_the_place_of_the_file() {
    for status in [401, 403, 404, 410, 416, 503] {
        let answer = answer(MediaFaultKind::Status(status)).await;
        assert_eq!(answer.status, status);
        assert_eq!(answer.header("content-range").starts_with("bytes */"), status == 416);
    }
    let wait = |seconds| MediaFaultKind::Later { status: 429, retry_after: seconds };
    let later = answer(wait(Some(Duration::from_millis(1500)))).await;
    assert_eq!((later.status.as_u16(), later.header("retry-after")), (429, "2"));
    assert!(answer(wait(None)).await.header("retry-after").is_empty());
}

#[tokio::test]
async fn a_page_or_a_challenge_comes_instead() {
    let page = answer(MediaFaultKind::Html).await;
    assert!(page.status == 200 && page.header("content-type").starts_with("text/html"));
    let challenge = answer(MediaFaultKind::Challenge).await;
    assert_eq!((challenge.status.as_u16(), challenge.header("cf-mitigated")), (403, "challenge"));
}

#[tokio::test]
async fn a_redirect_leads_to_the_same_file_elsewhere() {
    let (site, file) = with(&[MediaFaultKind::RedirectElsewhere]).await;
    let answer = get(&site, &file.path).await;
    let location = answer.header("location");
    assert_eq!((answer.status.as_u16(), location), (302, &*format!("{}{}", site.elsewhere(), file.path)));
    assert_eq!(ask(location, Method::GET, &[], Bytes::new()).await.unwrap().body, file.content);
    assert_eq!(site.requests().iter().map(|seen| seen.origin).collect::<Vec<_>>(), [Origin::Site, Origin::Elsewhere]);
}

#[tokio::test]
async fn a_body_is_cut_after_its_bytes() {
    let (site, file) = with(&[MediaFaultKind::CutAfter(70_001)]).await;
    let answer = get(&site, &file.path).await;
    assert_eq!((answer.is_whole, answer.header("content-length")), (false, &*file.size().to_string()));
    assert_eq!(answer.body, file.content.slice(..answer.body.len()));
    assert!(answer.body.len() <= 70_001);
    assert_eq!(site.bytes_sent(&file.path), 70_001);
}

#[tokio::test]
async fn a_stalled_body_comes_to_no_end() {
    let (site, file) = with(&[MediaFaultKind::StalledAfter(5_000)]).await;
    let address = site.address(&file.path);
    let asked = ask(&address, Method::GET, &[], Bytes::new());
    assert!(tokio::time::timeout(Duration::from_millis(100), asked).await.is_err());
    assert_eq!(site.bytes_sent(&file.path), 5_000);
}

#[tokio::test]
async fn a_slow_body_takes_its_time_and_comes_whole() {
    let (site, file) = with(&[MediaFaultKind::Slow { bytes_per_second: 1_000_000 }]).await;
    let started = Instant::now();
    assert_eq!(get(&site, &file.path).await.body, file.content);
    // at 20 parts a second, of which the first comes at once
    assert!(started.elapsed() >= Duration::from_millis(100));
}

#[tokio::test]
async fn a_fault_spares_requests_ends_and_is_removed() {
    let (site, file) = with(&[]).await;
    let fault = || MediaFault::new(MediaFaultKind::Status(503));
    let statuses = async |count: usize| {
        let mut statuses = Vec::new();
        for _ in 0..count {
            statuses.push(get(&site, &file.path).await.status.as_u16());
        }
        statuses
    };
    site.add_fault(&file.path, fault().after(1).times(2));
    assert_eq!(statuses(4).await, [200, 503, 503, 200]);
    site.add_fault(&file.path, fault());
    assert_eq!(statuses(2).await, [503, 503]);
    site.remove_faults(&file.path);
    assert_eq!(statuses(1).await, [200]);
    site.add_fault(&file.path, fault().on_method(Method::HEAD));
    assert_eq!(statuses(1).await, [200]);
}

#[tokio::test]
async fn faults_of_one_path_meet_a_request_together() {
    let (site, file) = with(&[MediaFaultKind::DateOnly, MediaFaultKind::CutAfter(1_000)]).await;
    let answer = get(&site, &file.path).await;
    assert!(answer.header("etag").is_empty() && !answer.is_whole);
}

#[tokio::test]
async fn a_fault_of_a_query_spares_the_others() {
    let site = start().await;
    site.add_fault("/viewtopic.php?t=31&start=10", MediaFault::new(MediaFaultKind::Status(503)));
    assert_eq!(get(&site, "/viewtopic.php?t=31").await.status, 200);
    assert_eq!(get(&site, "/viewtopic.php?t=31&start=10").await.status, 503);
    site.add_fault("/viewtopic.php", MediaFault::new(MediaFaultKind::Status(403)));
    assert_eq!(get(&site, "/viewtopic.php?t=31").await.status, 403);
}
