//! Recognisable secrets of media jobs: a worker and an API run with them, services take some and refuse others, and they
//! are only where they were put.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use contract::media::accounts::{Account, AccountDraft};
use domain::role::Role;
use http_body_util::{BodyExt, Full};
use serde_json::json;
use sim::media::{AccountKind, HookAnswer, HookScript, MediaFault, MediaFaultKind};
use testkit::{Child, PATIENCE, until};

use super::accounts::{has_tool, scrape_of};
use super::harness::{KEY, MediaHarness};
use crate::api::canaries::{Canaries, command_lines, reads, rows};
use crate::api::server::{Answer, open};
use crate::notifications::tools::SECRET;

const TOKEN: &str = "account-token-of-carol";
const REFUSED_PASSWORD: &str = "canary-of-a-refused-password";
const EASYNEWS_PASSWORD: &str = "easynews-password";
const REFUSED_FILM_KEY: &str = "canary-of-a-film-key";
const FORUM_KEY: &str = "discourse-key";
const TOPIC_TOKEN: &str = "canary-of-a-topic";
/// Number of jobs; each endpoint gets a notification of each.
const JOBS: usize = 5;
const OPEN: &str = "SELECT count(*) FROM worker_tasks WHERE status IN ('pending', 'claimed', 'running')";

fn canaries() -> Canaries {
    let secrets = [KEY, TOKEN, REFUSED_PASSWORD, EASYNEWS_PASSWORD, REFUSED_FILM_KEY, FORUM_KEY, TOPIC_TOKEN, SECRET];
    let mut all = secrets.map(str::to_owned).to_vec();
    all.push(SECRET.trim_start_matches("whsec_").to_owned());
    let logins = [("member", EASYNEWS_PASSWORD), ("u", REFUSED_PASSWORD)];
    all.extend(logins.map(|(username, password)| STANDARD.encode(format!("{username}:{password}"))));
    Canaries(all)
}

impl MediaHarness {
    /// Jobs that each open a secret, some of which are refused.
    async fn enqueue_jobs_with_secrets(&self) {
        let token = json!({"name": "carol", "platform": "mastodon", "kind": "token", "secret": TOKEN});
        let token = self.add_credential(token).await;
        self.add_account("carol", json!({"credential_id": token})).await;

        let login = json!({"name": "board", "platform": "moebooru", "kind": "password", "username": "u", "secret": REFUSED_PASSWORD});
        let login = self.add_credential(login).await;
        let url = self.site.account_address(AccountKind::Moebooru, "x");
        let board = json!({"platform": "moebooru", "username": "x", "url": url, "credential_id": login});
        self.add::<Account>(serde_json::from_value::<AccountDraft>(board).unwrap()).await;
        self.site.add_fault("/post.json", MediaFault::new(MediaFaultKind::Status(401)));

        self.add_login(EASYNEWS_PASSWORD).await;
        self.add_search(json!({"query": "quiet harbor"})).await;
        self.add_key(REFUSED_FILM_KEY).await;
        self.watch(42).await;
        let forum = self.discourse().await;
        self.thread(forum, 12, false).await;

        let client = self.database.db.client().await.unwrap();
        let board = db::tasks::NewTask { platform: Some("moebooru".to_owned()), ..scrape_of("x", json!({})) };
        db::tasks::enqueue(&client, &[scrape_of("carol", json!({})), board]).await.unwrap();
        for role in [Role::EasynewsMonitor, Role::AppearancesSync, Role::ForumScrape] {
            self.enqueue(role, json!({})).await;
        }
    }

    /// A signed webhook, and a topic that is gone.
    async fn add_endpoints_for_all(&self) {
        let webhook = self.add_webhook("jobs").await;
        let token = self.add_token("topic", TOPIC_TOKEN).await;
        let target = self.site.address("/hooks/topic");
        let topic = json!({"name": "topic", "kind": "ntfy", "target": target, "credential_id": token});
        let topic = self.add_endpoint(topic).await;
        self.site.script_hook("topic", HookScript::Cycle(vec![HookAnswer::Status(410)]));
        for endpoint in [webhook, topic] {
            let sql = "INSERT INTO notification_rules (endpoint_id, events) VALUES ($1, '{job.completed,job.failed}')";
            self.database.raw.execute(sql, &[&endpoint]).await.unwrap();
        }
    }
}

/// Without a look for this machine's paths, which the settings of a test show.
async fn ask_everything(api: &Child) -> Vec<(String, Answer)> {
    let address = MediaHarness::address_of(api).await;
    let mut answers = Vec::new();
    for path in reads() {
        let request = http::Request::get(&path).header("host", address.to_string()).body(Full::default()).unwrap();
        let (head, body) = open(address, request).await.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        answers.push((path, Answer { status: head.status, headers: head.headers, body }));
    }
    answers
}

#[tokio::test]
async fn secrets_of_media_jobs_stand_in_no_log_row_metric_answer_or_command_line() {
    if !has_tool() {
        return;
    }
    let harness = MediaHarness::start().await;
    harness.add_endpoints_for_all().await;
    harness.enqueue_jobs_with_secrets().await;
    let mut at_its_fullest = harness.drover(2);
    at_its_fullest.args(["worker", "--role", "media"]).env("DROVER__LOG__LEVEL", "debug");
    let worker = Child::spawn(&mut at_its_fullest).allow_errors(&["failed for good"]);
    until("the webhook has all", PATIENCE, async || harness.site.deliveries("jobs").len() == JOBS).await;
    until("nothing is left to do", PATIENCE, async || harness.number(OPEN).await == 0).await;

    let canaries = canaries();
    for (place, text) in rows(&harness.database.url).await {
        canaries.assert_absent(&place, &text);
    }
    for (process, line) in command_lines() {
        canaries.assert_absent(&process, &line);
    }
    canaries.assert_absent("the metrics", &worker.metrics().await);
    let log = [worker.stderr(), worker.stdout()].concat().join("\n");
    assert!(log.contains("\"level\":\"DEBUG\"") && log.contains("failed for good"), "the log is read at its fullest");
    canaries.assert_absent("the log", &log);
    drop(worker);

    let api = harness.spawn_api().await;
    let answers = ask_everything(&api).await;
    let good = answers.iter().filter(|(_, answer)| answer.status == 200).count();
    assert!(good >= 40, "only {good} answers");
    for (path, answer) in answers {
        canaries.assert_absent(&path, &format!("{:?} {}", answer.headers, answer.text()));
    }
    canaries.assert_absent("the log of the API", &api.stderr().join("\n"));
}
