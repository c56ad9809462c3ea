//! `drover payload replay`: re-parses stored payloads by tasks of the role product_refresh, so that a better
//! normaliser reaches old data.
//!
//! In: one payload, or a choice of stores and times. Out: tasks, queued part by part in the order of the
//! fetches. It reads no menu, and only checks that the files exist.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::json;

use crate::cli::progress::CommandProgress;
use crate::cli::store_name::{self, StoreName};
use crate::cli::{CliError, Env, ExitCode, missing, values};
use contract::task_requests::TaskRequest;
use db::payloads::replays::{Replay, ReplayChoice, ReplayPayload};
use db::tasks::requests::RequestError;
use db::{Client, Db, DbError, payloads, tasks};
use domain::amounts::counted;
use domain::menu::stock::PayloadPosition;
use domain::payload::PayloadId;
use domain::store::StoreId;
use domain::task::role::Role;
use storage::{Payloads, Place};

/// Number of payloads whose tasks are queued in one transaction.
const PART: usize = 1_000;
/// Maximum tasks of replays that wait to be claimed.
const MAX_OPEN: u64 = 10_000;
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Maximum listed missing files; further ones are counted.
const MAX_LISTED: usize = 100;
/// Maximum conflicts in a row with other commands that queue tasks for the same payloads.
const MAX_TRIES: usize = 5;
const MAX_STORES: usize = 10_000;

#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("choice").required(true).multiple(true))]
pub struct Args {
    /// Payload id, to re-parse one payload of any age
    #[arg(group = "choice", conflicts_with_all = ["store", "since", "until", "all", "dry_run", "restart"], allow_negative_numbers = true, value_parser = values::id)]
    id: Option<PayloadId>,
    /// Only payloads of the stores with these ids, slugs or names
    #[arg(long, group = "choice", value_name = "STORE", num_args = 1.., allow_negative_numbers = true)]
    store: Vec<StoreName>,
    /// Only payloads fetched from this day (UTC) or time on
    #[arg(long, group = "choice", value_name = "DAY|TIME", value_parser = values::since)]
    since: Option<DateTime<Utc>>,
    /// Only payloads fetched up to the end of this day (UTC), or before this time
    #[arg(long, group = "choice", value_name = "DAY|TIME", value_parser = values::until)]
    until: Option<DateTime<Utc>>,
    /// All payloads of all stores
    #[arg(long, group = "choice", conflicts_with_all = ["store", "since", "until"])]
    all: bool,
    /// Count the payloads, and queue nothing
    #[arg(long)]
    dry_run: bool,
    /// Start at the first payload, even if an interrupted replay of the same payloads could continue
    #[arg(long)]
    restart: bool,
}

#[derive(Debug, Default, Serialize)]
struct Answer {
    dry_run: bool,
    /// Whether it resumed an interrupted replay.
    resumed: bool,
    /// Tasks made; with `dry_run`, tasks to be made.
    queued: u64,
    /// Payloads that an open task replays already.
    already_queued: u64,
    /// Payloads of disabled stores.
    of_disabled_stores: u64,
    bytes: u64,
    missing: u64,
    /// The first missing files.
    missing_files: Vec<MissingFile>,
    /// Payloads not processed, because the command was stopped.
    remaining: u64,
}

#[derive(Debug, Serialize)]
struct MissingFile {
    payload_id: PayloadId,
    dispensary_id: StoreId,
    storage_path: String,
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    if let Some(id) = args.id {
        return one(id, env).await;
    }
    let (dry_run, restart) = (args.dry_run, args.restart);
    let api = if dry_run { env.api_to_read().await? } else { env.api().await? };
    let choice = choice(store_name::ids(&args.store, &api).await?, &args)?;
    let db = if dry_run { env.db_to_read().await? } else { env.db().await? };
    let client = db.client().await?;
    if let Some(id) = db::stores::first_missing(&client, choice.stores.as_deref().unwrap_or_default()).await? {
        return Err(CliError::not_found(missing::with_remedy(&format!("store {id} does not exist"))).into());
    }
    let earlier = if restart { None } else { payloads::replays::resume(&client, &choice).await? };
    let resumed = earlier.is_some();
    let replay = match earlier {
        Some(replay) => replay,
        None if dry_run => payloads::replays::plan(&client, &choice).await?,
        None => {
            payloads::replays::abandon(&client, &choice).await?;
            payloads::replays::begin(&client, &choice).await?
        }
    };
    let owner = db::schema::installation::storage_owner(&client).await?;
    drop(client);
    let work = Work {
        files: Payloads::new(Place::of(&env.config)?, owner),
        progress: CommandProgress::begin(env, "payloads"),
        answer: Answer { dry_run, resumed, ..Answer::default() },
        db,
        choice,
        replay,
    };
    let answer = work.run().await?;
    env.out.either(&answer, text)?;
    Ok(code(&answer))
}

fn choice(mut stores: Vec<StoreId>, args: &Args) -> Result<ReplayChoice, CliError> {
    stores.sort_unstable();
    stores.dedup();
    if stores.len() > MAX_STORES {
        return Err(CliError::usage(format!("{} stores; the maximum number of stores is {MAX_STORES}", stores.len())));
    }
    if args.since.zip(args.until).is_some_and(|(since, until)| since >= until) {
        return Err(CliError::usage("--since must be before --until"));
    }
    let stores = (!stores.is_empty()).then_some(stores);
    Ok(ReplayChoice { since: args.since, until: args.until, stores })
}

async fn one(id: PayloadId, env: &Env) -> anyhow::Result<ExitCode> {
    let tx = env.db().await?.begin().await?;
    let payload = db::payloads::get(&tx, id).await?;
    let payload =
        payload.ok_or_else(|| CliError::not_found(missing::with_remedy(&format!("payload {id} does not exist"))))?;
    let files = Payloads::new(Place::of(&env.config)?, db::schema::installation::storage_owner(&tx).await?);
    if !files.missing(vec![payload.storage_path.clone()]).await?.is_empty() {
        return Err(
            CliError::not_found(format!("the file of payload {id} is missing: {}", payload.storage_path)).into()
        );
    }
    let request = TaskRequest {
        role: Role::ProductRefresh.name().to_owned(),
        dispensary_id: Some(payload.dispensary_id),
        payload: json!({ "payload_id": id }),
        ..TaskRequest::default()
    };
    let task = tasks::requests::enqueue(&tx, request).await.map_err(not_queued)?.id;
    tx.commit().await?;
    env.out.either(&json!({ "task_id": task, "payload_id": id }), |_| format!("task {task}: payload {id}"))?;
    Ok(ExitCode::Ok)
}

fn not_queued(error: RequestError) -> anyhow::Error {
    match error {
        RequestError::Bad(bad) => CliError::usage(bad.to_string()).into(),
        RequestError::Missing { .. } => CliError::not_found(error.to_string()).into(),
        RequestError::Duplicate { .. } => CliError::conflict(error.to_string()).into(),
        RequestError::Db(error) => error.into(),
    }
}

/// A replay under way.
struct Work {
    db: Db,
    files: Payloads,
    progress: CommandProgress,
    choice: ReplayChoice,
    replay: Replay,
    answer: Answer,
}

impl Work {
    async fn run(mut self) -> anyhow::Result<Answer> {
        let client = self.db.client().await?;
        let mut remaining = payloads::replays::remaining(&client, &self.replay, &self.choice).await?;
        drop(client);
        self.progress.set_total(remaining);
        while !self.progress.is_stopped() {
            let looked_at = self.part().await?;
            self.progress.advance(looked_at);
            remaining = remaining.saturating_sub(looked_at);
            if looked_at == 0 {
                return self.finish().await;
            }
        }
        Ok(Answer { remaining, ..self.answer })
    }

    /// Queues the next part; returns the number of payloads processed.
    async fn part(&mut self) -> anyhow::Result<u64> {
        fail::fail_point!("replay.part");
        if !self.answer.dry_run {
            self.wait_for_room().await?;
        }
        for _ in 0..MAX_TRIES {
            let page = payloads::replays::page(&self.client().await?, &self.replay, &self.choice, PART as i64).await?;
            let Some(last) = page.last() else { return Ok(0) };
            let last = PayloadPosition { fetched_at: last.fetched_at, id: last.id };
            let looked_at = page.len() as u64;
            let sorted = self.sort(page).await?;
            match self.queue(&sorted.to_queue, last).await {
                Ok(queued) => {
                    self.answer.add(sorted, queued);
                    return Ok(looked_at);
                }
                // another command has just queued one of them
                Err(DbError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(CliError::conflict("other commands are queuing tasks for the same payloads; try again").into())
    }

    async fn queue(&mut self, payloads: &[ReplayPayload], last: PayloadPosition) -> Result<u64, DbError> {
        if self.answer.dry_run {
            self.replay.skip_to(last);
            return Ok(payloads.len() as u64);
        }
        Ok(payloads::replays::queue_part(&self.db, &mut self.replay, payloads, last).await? as u64)
    }

    /// Waits, so that a long replay does not fill the queue: workers take its tasks when nothing else waits.
    async fn wait_for_room(&self) -> anyhow::Result<()> {
        while !self.progress.is_stopped() {
            if payloads::replays::open_tasks(&self.client().await?).await? < MAX_OPEN {
                break;
            }
            self.progress.set_message("waiting until workers have run the queued tasks");
            self.progress.pause(POLL_INTERVAL).await;
        }
        self.progress.set_message("");
        Ok(())
    }

    async fn sort(&self, page: Vec<ReplayPayload>) -> anyhow::Result<SortedPayloads> {
        let paths = page.iter().map(|payload| payload.storage_path.clone()).collect();
        let missing = self.files.missing(paths).await?;
        let mut sorted = SortedPayloads::default();
        for payload in page {
            match () {
                () if missing.contains(&payload.storage_path) => sorted.missing.push(payload),
                () if !payload.is_enabled => sorted.of_disabled_stores += 1,
                () if payload.is_queued => sorted.already_queued += 1,
                () => sorted.to_queue.push(payload),
            }
        }
        Ok(sorted)
    }

    async fn finish(self) -> anyhow::Result<Answer> {
        if !self.answer.dry_run {
            payloads::replays::finish(&self.client().await?, &self.replay).await?;
        }
        Ok(self.answer)
    }

    async fn client(&self) -> Result<Client, DbError> {
        self.db.client().await
    }
}

/// A part's payloads, by their treatment.
#[derive(Default)]
struct SortedPayloads {
    to_queue: Vec<ReplayPayload>,
    missing: Vec<ReplayPayload>,
    of_disabled_stores: u64,
    already_queued: u64,
}

impl Answer {
    fn add(&mut self, sorted: SortedPayloads, queued: u64) {
        self.queued += queued;
        self.already_queued += sorted.already_queued;
        self.of_disabled_stores += sorted.of_disabled_stores;
        self.bytes += sorted.to_queue.iter().map(|payload| payload.bytes.unsigned_abs()).sum::<u64>();
        self.missing += sorted.missing.len() as u64;
        let room = MAX_LISTED.saturating_sub(self.missing_files.len());
        self.missing_files.extend(sorted.missing.into_iter().take(room).map(MissingFile::from));
    }
}

impl From<ReplayPayload> for MissingFile {
    fn from(payload: ReplayPayload) -> MissingFile {
        let ReplayPayload { id: payload_id, dispensary_id, storage_path, .. } = payload;
        MissingFile { payload_id, dispensary_id, storage_path }
    }
}

fn code(answer: &Answer) -> ExitCode {
    match answer {
        Answer { remaining: 1.., .. } => ExitCode::Interrupted,
        Answer { missing: 1.., .. } => ExitCode::PartialFailure,
        _ => ExitCode::Ok,
    }
}

fn text(answer: &Answer) -> String {
    let mut lines: Vec<String> = answer
        .missing_files
        .iter()
        .map(|file| {
            format!("missing: {} (payload {} of store {})", file.storage_path, file.payload_id, file.dispensary_id)
        })
        .collect();
    let unlisted = answer.missing - answer.missing_files.len() as u64;
    if unlisted > 0 {
        lines.push(format!("and {}", counted(unlisted, "more file")));
    }
    let done = if answer.dry_run { "would be queued" } else { "queued" };
    let went_on = if answer.resumed { ", continuing an interrupted replay" } else { "" };
    lines.push(format!("payloads {done}: {} ({}){went_on}", answer.queued, counted(answer.bytes, "byte")));
    let left_out = [
        ("already queued", answer.already_queued),
        ("of disabled stores", answer.of_disabled_stores),
        ("without a file", answer.missing),
    ];
    let left_out: Vec<String> =
        left_out.iter().filter(|(_, count)| *count > 0).map(|(what, count)| format!("{what}: {count}")).collect();
    if !left_out.is_empty() {
        lines.push(format!("skipped: {}", left_out.join(", ")));
    }
    if answer.remaining > 0 {
        lines.push(format!("stopped with {} left; run the same command again to continue", answer.remaining));
    }
    lines.join("\n")
}
