//! Jobs that open a secret each, of which services take some and refuse others, and where the secrets arrived.

use contract::media::accounts::{Account, AccountDraft};
use db::tasks::NewTask;
use domain::task::role::Role;
use serde_json::json;
use sim::media::{AccountKind, HookAnswer, HookScript, MediaFault, MediaFaultKind, Origin};

use super::accounts::scrape_of;
use super::harness::{MediaHarness, job};

pub const TOKEN: &str = "account-token-of-carol";
pub const ACCOUNT_COOKIE: &str = "canary-of-a-session";
pub const REFUSED_PASSWORD: &str = "canary-of-a-refused-password";
pub const EASYNEWS_PASSWORD: &str = "easynews-password";
pub const REFUSED_FILM_KEY: &str = "canary-of-a-film-key";
pub const FORUM_KEY: &str = "discourse-key";
pub const FORUM_COOKIE: &str = "forum-cookie";
pub const TOPIC_TOKEN: &str = "canary-of-a-topic";
/// Secrets that a job sends to its service.
pub const SENT: [&str; 7] =
    [TOKEN, ACCOUNT_COOKIE, EASYNEWS_PASSWORD, REFUSED_FILM_KEY, FORUM_KEY, FORUM_COOKIE, TOPIC_TOKEN];

/// Jobs of tools that have a password, cookies, and cookies for a page.
pub struct ToolJobs {
    pub tasks: [NewTask; 3],
    /// The path of a file that each downloads.
    pub files: [String; 3],
}

/// A file of cookies in Netscape's format, for the site alone.
pub fn cookie_file(name: &str, value: &str) -> String {
    format!("127.0.0.1\tFALSE\t/\tFALSE\t0\t{name}\t{value}\n")
}

impl MediaHarness {
    pub async fn add_tool_jobs(&self) -> ToolJobs {
        let login = json!({
            "name": "board", "platform": "moebooru", "kind": "password", "username": "u", "secret": REFUSED_PASSWORD,
        });
        let login = self.add_credential(login).await;
        let url = self.site.account_address(AccountKind::Moebooru, "x");
        let board = json!({"platform": "moebooru", "username": "x", "url": url, "credential_id": login});
        self.add::<Account>(serde_json::from_value::<AccountDraft>(board).unwrap()).await;
        let board = NewTask { platform: Some("moebooru".to_owned()), ..scrape_of("x", json!({})) };
        let tag = self.site.account(AccountKind::Moebooru, "x").unwrap();

        let secret = cookie_file("session", ACCOUNT_COOKIE);
        let cookies = json!({"name": "alice", "platform": "mastodon", "kind": "cookies", "secret": secret});
        let cookies = self.add_credential(cookies).await;
        let alice = self.add_account("alice", json!({"credential_id": cookies})).await;
        let page = self.know_page().await;
        let sql = "UPDATE media_items SET account_id = $1 WHERE id = $2";
        self.database.raw.execute(sql, &[&alice, &page]).await.unwrap();
        let video = self.site.channel(super::proxies::CHANNEL).unwrap().videos.remove(0);
        ToolJobs {
            tasks: [board, scrape_of("alice", json!({})), job(Role::DownloadMedia, json!({"media_ids": [page]}))],
            files: [
                tag.files().next().unwrap().path.clone(),
                self.files_of_account("alice")[0].path.clone(),
                video.file.path,
            ],
        }
    }

    /// Jobs of all services; returns how many. The jobs of `tools` come again: the password is refused, and files are at
    /// the other origin.
    pub async fn enqueue_jobs_with_secrets(&self, tools: &ToolJobs) -> usize {
        self.site.add_fault("/post.json", MediaFault::new(MediaFaultKind::Status(401)));
        for file in &tools.files[1..] {
            self.site.add_fault(file, MediaFault::new(MediaFaultKind::RedirectElsewhere));
        }
        let token = json!({"name": "carol", "platform": "mastodon", "kind": "token", "secret": TOKEN});
        let token = self.add_credential(token).await;
        self.add_account("carol", json!({"credential_id": token})).await;
        self.add_login(EASYNEWS_PASSWORD).await;
        self.add_search(json!({"query": "quiet harbor"})).await;
        self.add_key(REFUSED_FILM_KEY).await;
        self.watch(42).await;
        let forum = self.discourse().await;
        self.thread(forum, 12, false).await;
        self.thread_behind_a_log_in(&cookie_file("xf_user", &format!("24,{FORUM_COOKIE}"))).await;

        let monitors = [Role::EasynewsMonitor, Role::AppearancesSync, Role::ForumScrape];
        let mut tasks = vec![scrape_of("carol", json!({}))];
        tasks.extend(monitors.map(|role| job(role, json!({}))));
        tasks.extend(tools.tasks.clone());
        self.enqueue_all(&tasks).await.len()
    }

    pub async fn enqueue_all(&self, tasks: &[NewTask]) -> Vec<i64> {
        db::tasks::enqueue(&self.database.db.client().await.unwrap(), tasks).await.unwrap()
    }

    /// A signed webhook, and a topic that is gone.
    pub async fn add_endpoints_for_all(&self) {
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

    /// The site saw the secret, and no other origin did.
    #[track_caller]
    pub fn assert_sent_to_the_site_alone(&self, secret: &str) {
        let seen = self.site.occurrences(secret);
        assert!(!seen.is_empty(), "{secret} was not sent");
        assert!(seen.iter().all(|seen| seen.origin == Origin::Site), "{secret}: {seen:?}");
        assert_eq!(self.site.dropped_requests(), 0);
    }
}
