//! A service that answers with a redirect to another origin: the secret stays with the service, however the job ends.

use contract::media::accounts::{Account, AccountDraft};
use contract::media::credentials::Credential;
use db::tasks::NewTask;
use domain::task::role::Role;
use http::Method;
use rstest::rstest;
use serde_json::json;
use sim::media::{AfterAnswer, MediaFault, MediaFaultKind, MediaPlan, Origin, RawAnswer, RawReceiver};

use super::accounts::{has_tool, scrape_of};
use super::harness::{MediaHarness, job};
use super::secret_jobs::{ACCOUNT_COOKIE, FORUM_COOKIE, FORUM_KEY, TOKEN, cookie_file};
use super::videos;

const FILM_TOKEN: &str = "tmdb.token";
const FILM_KEY: &str = "0123456789abcdef0123456789abcdef";
const PASSWORD: &str = "canary-of-a-member";
const LOG_IN: &str = "/login/login";

impl MediaHarness {
    fn redirect(&self, path: &str) {
        self.site.add_fault(path, MediaFault::new(MediaFaultKind::RedirectElsewhere));
    }

    /// The job may end in any way.
    async fn run_to_any_end(&self, task: NewTask) {
        let _ = self.run_task(task).await;
    }

    fn asks_elsewhere(&self) -> bool {
        self.site.requests().iter().any(|request| request.origin == Origin::Elsewhere)
    }
}

/// A redirect repeats the query, and with it a key: that one is not followed.
#[rstest]
#[case::a_token(FILM_TOKEN, true)]
#[case::a_key(FILM_KEY, false)]
#[tokio::test]
async fn a_key_of_films_stays_with_its_service(#[case] key: &str, #[case] is_followed: bool) {
    let harness = MediaHarness::facing(MediaPlan { tmdb_key: key.to_owned(), ..MediaPlan::default() }).await;
    harness.watch(42).await;
    harness.add_key(key).await;
    harness.redirect("/3/person/42/combined_credits");
    harness.run_to_any_end(job(Role::AppearancesSync, json!({}))).await;
    assert_eq!(harness.asks_elsewhere(), is_followed);
    harness.assert_sent_to_the_site_alone(key);
    let sql = "SELECT count(*) FROM people WHERE last_error LIKE '%' || $1 || '%'";
    assert_eq!(harness.database.raw.query_one(sql, &[&key]).await.unwrap().get::<_, i64>(0), 0);
}

#[tokio::test]
async fn a_host_that_may_not_see_a_key_refuses_none() {
    let answer =
        |head: String| RawAnswer::new(format!("HTTP/1.1 {head}\r\ncontent-length: 0\r\n\r\n"), AfterAnswer::Close);
    let other = RawReceiver::start(vec![answer("401 Unauthorized".to_owned())]).await.unwrap();
    let service = RawReceiver::start(vec![answer(format!("302 Found\r\nlocation: {}/3", other.url()))]).await.unwrap();
    let harness = MediaHarness::with(MediaPlan::default(), &[("media.tmdb_url", &service.url())]).await;
    harness.watch(42).await;
    let key = harness.add_key(FILM_TOKEN).await;
    let error = harness.run(Role::AppearancesSync, json!({})).await.err().unwrap().to_string();
    assert!(error.contains("redirects to another host"), "{error}");
    assert_eq!((other.deliveries().len(), harness.get::<Credential>(key).await.last_result), (1, None));
}

#[tokio::test]
async fn a_key_of_discourse_stays_with_its_forum() {
    let harness = MediaHarness::start().await;
    let forum = harness.discourse().await;
    harness.thread(forum, 12, false).await;
    harness.redirect("/t/12.json");
    harness.run_to_any_end(job(Role::ForumScrape, json!({}))).await;
    assert!(harness.asks_elsewhere());
    harness.assert_sent_to_the_site_alone(FORUM_KEY);
}

#[tokio::test]
async fn a_cookie_of_a_forum_stays_with_it() {
    let harness = MediaHarness::start().await;
    harness.thread_behind_a_log_in(&cookie_file("xf_user", &format!("24,{FORUM_COOKIE}"))).await;
    harness.redirect("/threads/24/");
    harness.run_to_any_end(job(Role::ForumScrape, json!({}))).await;
    assert!(harness.asks_elsewhere());
    harness.assert_sent_to_the_site_alone(FORUM_COOKIE);
}

#[tokio::test]
async fn a_password_of_an_account_stays_with_its_site() {
    if !has_tool() {
        return;
    }
    let harness = MediaHarness::start().await;
    let login = json!({
        "name": "member", "platform": "xenforo", "kind": "password", "username": "ann", "secret": PASSWORD,
    });
    let login = harness.add_credential(login).await;
    let url = format!("xenforo:{}", harness.site.address("/threads/21/"));
    let draft = json!({"platform": "xenforo", "username": "ann", "url": url, "credential_id": login});
    harness.add::<Account>(serde_json::from_value::<AccountDraft>(draft).unwrap()).await;
    let form = MediaFault::new(MediaFaultKind::Html).on_method(Method::GET);
    harness.site.add_fault(LOG_IN, form);
    harness.redirect(LOG_IN);
    harness.run_to_any_end(NewTask { platform: Some("xenforo".to_owned()), ..scrape_of("ann", json!({})) }).await;
    assert!(harness.asks_elsewhere());
    harness.assert_sent_to_the_site_alone(PASSWORD);
}

#[tokio::test]
async fn a_token_of_an_account_stays_with_its_site() {
    if !has_tool() {
        return;
    }
    let harness = MediaHarness::start().await;
    let token = json!({"name": "carol", "platform": "mastodon", "kind": "token", "secret": TOKEN});
    let token = harness.add_credential(token).await;
    harness.add_account("carol", json!({"credential_id": token})).await;
    harness.redirect("/api/v1/accounts/lookup");
    harness.run_to_any_end(scrape_of("carol", json!({}))).await;
    assert!(harness.asks_elsewhere());
    harness.assert_sent_to_the_site_alone(TOKEN);
}

#[tokio::test]
async fn cookies_for_a_page_stay_with_its_site() {
    if !videos::has_tool() {
        return;
    }
    let harness = MediaHarness::start().await;
    let [_, _, download] = harness.add_tool_jobs().await.tasks;
    harness.redirect("/watch");
    harness.run_to_any_end(download).await;
    assert!(harness.asks_elsewhere());
    harness.assert_sent_to_the_site_alone(ACCOUNT_COOKIE);
}
