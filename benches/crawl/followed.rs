//! How late drover's changes came in a crawl: at a reader, which is `drover changes tail`, and at the first try of a
//! webhook, to which a rule sends them all. Late is the time from a batch's commit, as the server notes it.

use std::collections::HashMap;
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::routing::post;
use benches::connect;
use chrono::{DateTime, Utc};
use contract::media::change_rules::ChangeRule;
use contract::media::credentials::Credential;
use contract::media::endpoints::Endpoint;
use db::access::credentials;
use db::media::records;
use db::{Db, PoolSizes};
use domain::menu::changes::ChangeKind;
use foundation::clock::Clock;
use foundation::secrets::SecretKeys;
use serde::Deserialize;
use serde_json::json;
use settings::Config;
use strum::VariantArray;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::TcpListener;
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;
use tokio_postgres::Client;

pub const SETTINGS: [&str; 1] = ["track_commit_timestamp=on"];
/// Lets the worker send to a receiver on this machine.
pub const WORKER_SETTINGS: [(&str, &str); 2] =
    [("DROVER__MEDIA__ALLOW_PRIVATE", "true"), ("DROVER__SECRETS__KEY", KEY)];
/// 64 hex digits.
const KEY: &str = "8f3c2a1b5d4e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8";
/// Secret of 24 bytes, by which messages are signed.
const TOKEN: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const PATIENCE: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(50);
const COMMITS: &str = "SELECT b.dispensary_id, b.crawled_at, c.at, b.count
  FROM change_batches b, LATERAL (SELECT max(pg_xact_commit_timestamp(xmin)) AS at FROM product_changes WHERE crawl_id = b.crawl_id) c
 WHERE NOT b.baseline AND b.created_at >= $1";
const HAS_PENDING: &str = "SELECT EXISTS (SELECT FROM notifications WHERE state = 'pending')
    OR EXISTS (SELECT FROM change_batches WHERE seq IS NULL)
    OR EXISTS (SELECT FROM change_rules r, change_feed f WHERE r.seq < f.newest)";

/// A crawl: its store and its time.
type Crawl = (i64, DateTime<Utc>);
type Arrivals = Arc<Mutex<Vec<(Crawl, DateTime<Utc>)>>>;

/// A reader and a receiver of the changes in one database.
pub struct Followed {
    db: Client,
    begun: DateTime<Utc>,
    reader: Child,
    reading: JoinHandle<()>,
    read: Arrivals,
    serving: JoinHandle<()>,
    received: Arrivals,
}

#[derive(Deserialize)]
struct Message {
    data: Data,
}

#[derive(Deserialize)]
struct Data {
    changes: Vec<Line>,
}

#[derive(Deserialize)]
struct Line {
    store_id: i64,
    crawled_at: DateTime<Utc>,
}

impl Followed {
    /// Follows the changes from now on.
    pub async fn start(url: &str, dir: &Path) -> Result<Followed> {
        let db = connect(url).await?;
        let begun = db.query_one("SELECT now()", &[]).await?.try_get(0)?;
        let (read, received) = (Arrivals::default(), Arrivals::default());
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        add_rule(url, &format!("http://{}/hook", listener.local_addr()?)).await?;
        let site = Router::new().route("/hook", post(receive)).with_state(Arc::clone(&received));
        let serving = tokio::spawn(async move { drop(axum::serve(listener, site).await) });
        let begun_text = DateTime::to_rfc3339(&begun);
        let mut command = Command::new(env!("CARGO_BIN_EXE_drover-under-bench"));
        command
            .args(["changes", "tail", "--json", "--from"])
            .arg(begun_text)
            .env_clear()
            .env("DATABASE_URL", url)
            .current_dir(dir);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut reader = command.spawn().context("drover changes tail")?;
        let mut lines = BufReader::new(reader.stdout.take().context("no stdout")?).lines();
        let arrivals = Arc::clone(&read);
        let reading = tokio::spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                note(&arrivals, serde_json::from_str(&line).ok());
            }
        });
        Ok(Followed { db, begun, reader, reading, read, serving, received })
    }

    /// Waits until all changes have come, and prints how late they were.
    pub async fn print(mut self) -> Result<()> {
        let waiting = self.db.prepare(HAS_PENDING).await?;
        let sent = async {
            while self.db.query_one(&waiting, &[]).await?.try_get(0)? {
                tokio::time::sleep(POLL).await;
            }
            anyhow::Ok(())
        };
        tokio::time::timeout(PATIENCE, sent).await.context("the changes are not sent")??;
        let mut committed = HashMap::new();
        let mut expected = 0;
        for row in self.db.query(COMMITS, &[&self.begun]).await? {
            let (store, crawled_at, at, count): (i64, DateTime<Utc>, DateTime<Utc>, i32) =
                (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?, row.try_get(3)?);
            committed.insert((store, crawled_at), at);
            expected += count as usize;
        }
        let read = async {
            while lock(&self.read).len() < expected {
                tokio::time::sleep(POLL).await;
            }
        };
        tokio::time::timeout(PATIENCE, read).await.context("the reader does not have all changes")?;
        // the next crawl's changes have another receiver
        self.db.batch_execute("DELETE FROM notification_endpoints").await?;
        self.reader.kill().await?;
        self.reading.abort();
        self.serving.abort();
        print("changes at a reader", &lock(&self.read), &committed);
        print("messages at a webhook", &lock(&self.received), &committed);
        Ok(())
    }
}

/// A rule that sends every change to a webhook with this address.
async fn add_rule(url: &str, target: &str) -> Result<()> {
    let db = Db::new(url, &Config::with(&[])?.database, PoolSizes { work: 1, api: 1 })?;
    let tx = db.begin().await?;
    let fields = json!({"name": target, "platform": "notifications", "kind": "token", "secret": TOKEN});
    let credential = records::insert::<Credential>(&tx, &serde_json::from_value(fields)?).await?;
    credentials::seal(&tx, credential, TOKEN, &SecretKeys::parse(KEY, [])?).await?;
    let fields = json!({"name": target, "kind": "webhook", "target": target, "credential_id": credential});
    let endpoint = records::insert::<Endpoint>(&tx, &serde_json::from_value(fields)?).await?;
    let fields = json!({"name": target, "kinds": ChangeKind::VARIANTS, "endpoint_id": endpoint});
    records::insert::<ChangeRule>(&tx, &serde_json::from_value(fields)?).await?;
    Ok(tx.commit().await?)
}

async fn receive(State(received): State<Arrivals>, body: Bytes) {
    let message: Option<Message> = serde_json::from_slice(&body).ok();
    note(&received, message.and_then(|message| message.data.changes.into_iter().next()));
}

fn note(arrivals: &Arrivals, line: Option<Line>) {
    let now = Clock::system().utc();
    lock(arrivals).extend(line.map(|line| ((line.store_id, line.crawled_at), now)));
}

fn lock(arrivals: &Arrivals) -> std::sync::MutexGuard<'_, Vec<(Crawl, DateTime<Utc>)>> {
    arrivals.lock().unwrap_or_else(PoisonError::into_inner)
}

fn print(name: &str, arrivals: &[(Crawl, DateTime<Utc>)], committed: &HashMap<Crawl, DateTime<Utc>>) {
    let late = arrivals.iter().filter_map(|(crawl, at)| Some((*at - *committed.get(crawl)?).as_seconds_f64()));
    let mut late: Vec<f64> = late.collect();
    late.sort_by(f64::total_cmp);
    let Some(last) = late.len().checked_sub(1) else { return println!("{name}: none") };
    let at = |share: usize| late[last * share / 100];
    println!("{name}: {}, late median {:.2} s, p95 {:.2} s, all {:.2} s", late.len(), at(50), at(95), at(100));
}
