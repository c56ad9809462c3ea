//! Files of the site, cut, changed and refused.

use std::path::PathBuf;
use std::time::Duration;

use media::download::{Download, DownloadError, WholeFile, download};
use public_http::{Http, Secrets};
use rstest::rstest;
use sim::media::{AccountKind, MediaFault, MediaFaultKind, MediaFile, MediaSite, Origin};
use tempfile::TempDir;
use url::Url;

use crate::ask::{member, secrets, start};

const MAX_BYTES: u64 = 1 << 20;

struct Place {
    _dir: TempDir,
    part: PathBuf,
}

impl Place {
    fn new() -> Place {
        let dir = tempfile::tempdir().unwrap();
        Place { part: dir.path().join("a.part"), _dir: dir }
    }

    async fn get(&self, url: &str, secrets: Option<Secrets>) -> Result<WholeFile, DownloadError> {
        let ask = Download {
            url: url.parse().unwrap(),
            referer: None,
            secrets,
            min_interval: Duration::ZERO,
            part: self.part.clone(),
            max_bytes: MAX_BYTES,
        };
        download(&Http::new(true).unwrap(), &ask, |_, _| {}).await
    }
}

fn video(site: &MediaSite) -> MediaFile {
    site.channel("UCabcdefghijklmnopqrstuv").unwrap().videos.swap_remove(0).file
}

fn cut(bytes: u64) -> MediaFault {
    MediaFault::new(MediaFaultKind::CutAfter(bytes)).times(1)
}

#[tokio::test]
async fn all_files_of_an_account_come_as_the_oracle_has_them() {
    let site = start().await;
    for file in site.account(AccountKind::Mastodon, "alice").unwrap().files() {
        let whole = Place::new().get(&site.address(&file.path), None).await.unwrap();
        assert_eq!((whole.sha256, whole.bytes), (file.sha256.clone(), file.size()));
        assert_eq!(whole.media_type.as_deref(), Some(file.media_type));
    }
}

#[tokio::test]
async fn a_cut_download_goes_on_where_it_was_cut() {
    let (site, place) = (start().await, Place::new());
    let file = video(&site);
    site.add_fault(&file.path, cut(100_000));
    let first = place.get(&site.address(&file.path), None).await.unwrap_err();
    assert!(matches!(first, DownloadError::Cut { bytes: 1..=100_000, .. }), "{first}");
    let whole = place.get(&site.address(&file.path), None).await.unwrap();
    assert_eq!((&whole.sha256, whole.bytes), (&file.sha256, file.size()));
    assert!(whole.received < file.size());
    let proofs: Vec<bool> = site.requests().iter().map(|seen| seen.if_range.is_some()).collect();
    assert_eq!(proofs, [false, true]);
}

#[rstest]
#[case::weak(&[MediaFaultKind::WeakEtag], false)]
#[case::none(&[MediaFaultKind::NoProof], false)]
#[case::date(&[MediaFaultKind::DateOnly], true)]
#[case::ignored(&[MediaFaultKind::IgnoresRange], true)]
#[case::late_start(&[MediaFaultKind::LyingStart], true)]
#[case::larger_total(&[MediaFaultKind::LyingTotal], true)]
#[tokio::test]
async fn a_cut_download_ends_with_the_bytes_of_the_site(
    #[case] faults: &[MediaFaultKind],
    #[case] asks_for_rest: bool,
) {
    let (site, place) = (start().await, Place::new());
    let file = video(&site);
    site.add_fault(&file.path, cut(100_000));
    faults.iter().for_each(|kind| site.add_fault(&file.path, MediaFault::new(kind.clone())));
    place.get(&site.address(&file.path), None).await.unwrap_err();
    let whole = place.get(&site.address(&file.path), None).await.unwrap();
    assert_eq!((whole.sha256, whole.bytes), (file.sha256.clone(), file.size()));
    assert_eq!(site.requests()[1].range.is_some(), asks_for_rest);
}

#[rstest]
#[case::by_the_rules(None)]
#[case::against_them(Some(MediaFaultKind::IgnoresIfRange))]
#[tokio::test]
async fn a_file_that_changes_under_a_download_comes_whole(#[case] fault: Option<MediaFaultKind>) {
    let (site, place) = (start().await, Place::new());
    let file = video(&site);
    site.add_fault(&file.path, cut(100_000));
    site.add_fault(&file.path, MediaFault::new(MediaFaultKind::Changed).after(1));
    fault.into_iter().for_each(|kind| site.add_fault(&file.path, MediaFault::new(kind)));
    place.get(&site.address(&file.path), None).await.unwrap_err();
    let whole = place.get(&site.address(&file.path), None).await.unwrap();
    assert_eq!(whole.sha256, site.changed_file(&file.path).unwrap().sha256);
}

#[rstest]
#[case::unauthorized(MediaFaultKind::Status(401), "refuses the file")]
#[case::forbidden(MediaFaultKind::Status(403), "refuses the file")]
#[case::not_found(MediaFaultKind::Status(404), "the file is gone")]
#[case::gone(MediaFaultKind::Status(410), "the file is gone")]
#[case::no_range(MediaFaultKind::Status(416), "refuses a request for the whole file")]
#[case::a_page(MediaFaultKind::Html, "a page instead of the file")]
#[case::a_challenge(MediaFaultKind::Challenge, "refuses the file")]
#[case::busy(MediaFaultKind::Later { status: 503, retry_after: None }, "asks to wait")]
#[tokio::test]
async fn an_answer_that_is_not_the_file_is_named(#[case] fault: MediaFaultKind, #[case] says: &str) {
    let site = start().await;
    let file = video(&site);
    site.add_fault(&file.path, MediaFault::new(fault));
    let error = Place::new().get(&site.address(&file.path), None).await.unwrap_err().to_string();
    assert!(error.contains(says), "{error}");
}

#[tokio::test]
async fn the_wait_that_the_site_asks_for_is_kept() {
    let site = start().await;
    let file = video(&site);
    let after = Some(Duration::from_secs(7));
    site.add_fault(&file.path, MediaFault::new(MediaFaultKind::Later { status: 429, retry_after: after }));
    let error = Place::new().get(&site.address(&file.path), None).await.unwrap_err();
    assert!(matches!(error, DownloadError::Wait { after: Some(wait), .. } if Some(wait) == after), "{error}");
}

#[tokio::test]
async fn a_secret_stays_with_the_site_when_it_redirects() {
    let site = start().await;
    let file = video(&site);
    site.add_fault(&file.path, MediaFault::new(MediaFaultKind::RedirectElsewhere));
    let url: Url = site.address(&file.path).parse().unwrap();
    let canary = secrets(&url, &[("cookie", "session=canary-4711")]);
    let whole = Place::new().get(url.as_str(), Some(canary)).await.unwrap();
    assert_eq!((whole.sha256, whole.url.as_str()), (file.sha256, &*format!("{}{}", site.elsewhere(), file.path)));
    let seen: Vec<Origin> = site.occurrences("canary-4711").into_iter().map(|occurrence| occurrence.origin).collect();
    assert_eq!(seen, [Origin::Site]);
    assert!(site.requests().iter().any(|request| request.origin == Origin::Elsewhere));
}

#[tokio::test]
async fn a_found_file_comes_for_members() {
    let site = start().await;
    let found = site.search("quiet harbor").unwrap().files.swap_remove(0);
    let url: Url = site.address(&found.file.path).parse().unwrap();
    let refused = Place::new().get(url.as_str(), None).await.unwrap_err();
    assert!(matches!(refused, DownloadError::Refused(_)), "{refused}");
    let secrets = secrets(&url, &[("authorization", &member())]);
    assert_eq!(Place::new().get(url.as_str(), Some(secrets)).await.unwrap().sha256, found.file.sha256);
}
