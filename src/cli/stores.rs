//! `drover stores`: adds, imports and lists the stores whose menus are crawled.

mod draft;
mod file;

use std::path::{Path, PathBuf};

use clap::Subcommand;
use serde::Serialize;

use super::input::{self, Input};
use super::output::time;
use super::{CliError, Env, ExitCode};
use crate::db::stores::{NewStore, StoreListing};
use crate::db::tasks::NewTask;
use crate::db::{self, DbError, Tx};
use crate::domain::role::Role;
use crate::domain::store::StoreId;
use crate::domain::task::TaskId;
use crate::platforms::hosts;
use draft::Draft;

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Add one store
    Add(Box<Draft>),
    /// Add the stores of a CSV file with a header; nothing is imported when any line has a fault
    Import {
        /// Columns: name, platform, platform_dispensary_id, slug, menu_url, api_host, api_path, city, state, timezone;
        /// - reads standard input
        file: PathBuf,
    },
    /// List the stores with their crawl state
    List,
}

#[derive(Serialize)]
struct AddedStore {
    id: StoreId,
    name: String,
    /// The task that looks up its platform id, when none was given.
    entry_point_task_id: Option<TaskId>,
    /// That task, before it is queued.
    #[serde(skip)]
    look_up: Option<NewTask>,
}

#[derive(Serialize)]
struct ImportAnswer {
    imported: Vec<AddedStore>,
    /// Stores that existed already and are not changed.
    known: usize,
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    match args.command {
        Command::Add(draft) => add(*draft, env).await,
        Command::Import { file } => import(&file, env).await,
        Command::List => list(env).await,
    }
}

async fn add(draft: Draft, env: &Env) -> anyhow::Result<ExitCode> {
    let store = draft.check().map_err(|faults| CliError::usage(faults.join("; ")))?;
    refuse_private_hosts(std::slice::from_ref(&store), env)?;
    let tx = env.db().await?.begin().await?;
    if let Some(id) = db::stores::find_known(&tx, &store).await? {
        return Err(CliError::conflict(format!("the store exists already: its id is {id}")).into());
    }
    let mut added = insert(&tx, store).await?;
    enqueue_look_ups(&tx, std::slice::from_mut(&mut added)).await?;
    tx.commit().await?;
    env.out.either(&added, |added| format!("store {}: {}", added.id, added.name))?;
    Ok(ExitCode::Ok)
}

async fn import(path: &Path, env: &Env) -> anyhow::Result<ExitCode> {
    let Input { name, text } = Input::read(path).await?;
    let stores = file::parse(&name, &text).map_err(|faults| input::refusal(&faults))?;
    if stores.is_empty() {
        return Err(CliError::usage(format!("{name} holds no stores")).into());
    }
    refuse_private_hosts(&stores, env)?;

    // all or nothing, and a list may be long
    let tx = env.db().await?.begin_maintenance().await?;
    let mut result = ImportAnswer { imported: Vec::new(), known: 0 };
    for store in stores {
        match db::stores::find_known(&tx, &store).await? {
            Some(_) => result.known += 1,
            None => result.imported.push(insert(&tx, store).await?),
        }
    }
    enqueue_look_ups(&tx, &mut result.imported).await?;
    tx.commit().await?;
    env.out
        .either(&result, |done| format!("stores imported: {}, known already: {}", done.imported.len(), done.known))?;
    Ok(ExitCode::Ok)
}

/// Crawls reach a store's host through the proxies, so a host of a private network must be allowed by the operator.
fn refuse_private_hosts(stores: &[NewStore], env: &Env) -> anyhow::Result<()> {
    let hosts = stores.iter().filter_map(|store| store.api_host.as_ref());
    let private: Vec<&str> = hosts
        .filter(|host| !hosts::is_public(host) && !env.config.http.host_allowlist.contains(host))
        .map(String::as_str)
        .collect();
    if private.is_empty() {
        return Ok(());
    }
    let hosts = private.join(", ");
    Err(CliError::usage(format!("api_host {hosts} is not a public host: correct it, or add it to http.host_allowlist"))
        .into())
}

/// A store without its platform's id needs a task that looks it up, which [`enqueue_look_ups`] queues.
async fn insert(tx: &Tx, store: NewStore) -> Result<AddedStore, DbError> {
    let id = db::stores::add(tx, &store).await?;
    let look_up = store.platform_dispensary_id.is_none().then(|| NewTask {
        dispensary_id: Some(id),
        platform: Some(store.platform.name().to_owned()),
        dedup_key: Some(format!("{}:{id}", Role::EntryPointDiscovery)),
        ..NewTask::new(Role::EntryPointDiscovery)
    });
    Ok(AddedStore { id, name: store.name, entry_point_task_id: None, look_up })
}

/// All in one call: the queue is notified once, and its lock is taken once.
async fn enqueue_look_ups(tx: &Tx, added: &mut [AddedStore]) -> Result<(), DbError> {
    let (tasks, stores): (Vec<NewTask>, Vec<&mut AddedStore>) =
        added.iter_mut().filter_map(|store| Some((store.look_up.take()?, store))).unzip();
    let ids = db::tasks::enqueue(tx, &tasks).await?;
    for (store, id) in stores.into_iter().zip(ids) {
        store.entry_point_task_id = Some(id);
    }
    Ok(())
}

async fn list(env: &Env) -> anyhow::Result<ExitCode> {
    let client = env.db_to_read().await?.client().await?;
    let stores = db::stores::list(&client).await?;
    env.out.rows(
        &stores,
        &["id", "name", "state", "platform id", "crawl", "products", "in stock", "last crawl"],
        cells,
    )?;
    Ok(ExitCode::Ok)
}

fn cells(store: &StoreListing) -> Vec<String> {
    let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    vec![
        store.id.to_string(),
        store.name.clone(),
        or_dash(&store.state),
        or_dash(&store.platform_dispensary_id),
        if store.crawl_enabled { "on" } else { "off" }.to_owned(),
        store.products.to_string(),
        store.in_stock.to_string(),
        or_dash(&store.last_crawl_at.map(time)),
    ]
}
