//! Accounts in Mastodon's shape, tags in Moebooru's.

use serde_json::Value;
use sim::media::{AccountKind, AccountPlan, MediaPlan, MediaSite};

use super::client::{get, get_with, start};

/// Ids of all posts, page by page as the links lead.
async fn pages(site: &MediaSite, account: &str) -> Vec<Vec<u64>> {
    let mut path = format!("/api/v1/accounts/{account}/statuses?limit=40");
    let mut pages = Vec::new();
    loop {
        let answer = get(site, &path).await;
        let ids = |posts: &Value| -> Vec<u64> {
            posts.as_array().unwrap().iter().map(|post| post["id"].as_str().unwrap().parse().unwrap()).collect()
        };
        pages.push(ids(&answer.json()));
        match answer.header("link").strip_prefix(&format!("<{}", site.url())) {
            Some(next) => path = next.split_once('>').unwrap().0.to_owned(),
            None => return pages,
        }
    }
}

#[tokio::test]
async fn an_account_is_looked_up_and_paged_by_its_last_id() {
    let site = start().await;
    let bob = site.account(AccountKind::Mastodon, "bob").unwrap();
    let profile = get(&site, "/api/v1/accounts/lookup?acct=bob").await.json();
    assert_eq!((profile["id"].as_str(), profile["acct"].as_str()), (Some("bob"), Some("bob")));
    let pages = pages(&site, "bob").await;
    assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), [20, 20, 5]);
    assert_eq!(pages.concat(), bob.posts.iter().map(|post| post.id).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_post_names_its_files() {
    let site = start().await;
    let alice = site.account(AccountKind::Mastodon, "alice").unwrap();
    let posts = get(&site, "/api/v1/accounts/alice/statuses").await.json();
    let files = posts.as_array().unwrap().iter().flat_map(|post| post["media_attachments"].as_array().unwrap());
    let urls: Vec<&str> = files.map(|file| file["url"].as_str().unwrap()).collect();
    assert_eq!(urls, alice.files().map(|file| site.address(&file.path)).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_file_may_be_named_like_a_path() {
    let tags = vec![AccountPlan::new("y", 2).naming_a_path()];
    let site = MediaSite::start(MediaPlan { tags, ..MediaPlan::default() }).await.unwrap();
    let file = site.account(AccountKind::Moebooru, "y").unwrap().files().next().unwrap().clone();
    assert!(file.path.starts_with("/files/..%2F..%2F"), "{}", file.path);
    assert_eq!(get(&site, &file.path).await.body, file.content);
}

#[tokio::test]
async fn unknown_accounts_are_not_found_and_empty_ones_are_empty() {
    let site = start().await;
    assert_eq!(get(&site, "/api/v1/accounts/lookup?acct=nemo").await.status, 404);
    assert_eq!(pages(&site, "empty").await.concat(), [0_u64; 0]);
}

#[tokio::test]
async fn an_account_may_need_a_token() {
    let site = start().await;
    for path in ["/api/v1/accounts/lookup?acct=carol", "/api/v1/accounts/carol/statuses"] {
        assert_eq!(get(&site, path).await.status, 401);
        let token = "Bearer account-token-of-carol";
        assert_eq!(get_with(&site, path, &[("authorization", token)]).await.status, 200);
    }
}

#[tokio::test]
async fn a_tag_is_paged_by_number() {
    let site = start().await;
    let tag = site.account(AccountKind::Moebooru, "x").unwrap();
    let mut urls = Vec::new();
    for page in 1..=3 {
        let posts = get(&site, &format!("/post.json?tags=x&page={page}&limit=2")).await.json();
        urls.extend(posts.as_array().unwrap().iter().map(|post| post["file_url"].as_str().unwrap().to_owned()));
    }
    assert_eq!(urls, tag.files().map(|file| site.address(&file.path)).collect::<Vec<_>>());
    assert_eq!(get(&site, "/post.json?tags=y").await.json(), serde_json::json!([]));
}

#[tokio::test]
async fn a_new_post_is_the_first_and_has_its_files() {
    let site = start().await;
    let post = site.publish_post(AccountKind::Mastodon, "alice").unwrap();
    assert_eq!(site.account(AccountKind::Mastodon, "alice").unwrap().posts[0], post);
    assert_eq!(get(&site, &post.files[0].path).await.body, post.files[0].content);
    assert!(site.publish_post(AccountKind::Moebooru, "alice").is_none());
}
