//! `drover stores`: adds, imports, groups, lists and switches the stores whose menus are crawled.

mod draft;
mod file;
mod import;
mod list;
mod switch;

use clap::Subcommand;
use serde::Serialize;

use super::{CliError, Env, ExitCode, groups, values};
use crate::db::stores::NewStore;
use crate::db::tasks::NewTask;
use crate::db::{self, DbError, Tx};
use crate::domain::group;
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
    /// Add the stores of a CSV file with a header, part by part; nothing is imported when any line has a fault
    Import(import::Args),
    /// List the stores with their crawl state
    List(list::Args),
    /// Crawl stores again that were switched off
    Enable(switch::Args),
    /// Crawl stores no more, until they are enabled; what they sold stays
    Disable(switch::Args),
    /// Put stores into a group, for which schedules of its own may be made
    Tag(GroupArgs),
    /// Take stores out of a group
    Untag(GroupArgs),
}

#[derive(Debug, clap::Args)]
struct GroupArgs {
    /// The group's name: letters, digits, hyphens and underscores
    #[arg(value_parser = group::name)]
    group: String,
    /// The stores' ids, as `stores list` shows them
    #[arg(required = true, value_name = "ID", value_parser = values::whole_number)]
    stores: Vec<StoreId>,
}

#[derive(Serialize)]
struct AddedStore {
    id: StoreId,
    name: String,
    /// The task that looks up its platform id, when none was given.
    entry_point_task_id: Option<TaskId>,
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    match args.command {
        Command::Add(draft) => add(*draft, env).await,
        Command::Import(args) => import::run(args, env).await,
        Command::List(args) => list::run(args, env).await,
        Command::Enable(args) => switch::run(args, true, env).await,
        Command::Disable(args) => switch::run(args, false, env).await,
        Command::Tag(args) => tag(args, env).await,
        Command::Untag(args) => untag(args, env).await,
    }
}

async fn add(draft: Draft, env: &Env) -> anyhow::Result<ExitCode> {
    let store = draft.check().map_err(|faults| CliError::usage(faults.join("; ")))?;
    if let Some(fault) = private_host(&store, env) {
        return Err(CliError::usage(fault).into());
    }
    let tx = env.db().await?.begin().await?;
    match insert(&tx, std::slice::from_ref(&store)).await? {
        Inserted { known: Some(id), .. } => {
            Err(CliError::conflict(format!("the store exists already: its id is {id}")).into())
        }
        Inserted { added, .. } => {
            tx.commit().await?;
            for added in &added {
                env.out.either(added, |added| format!("store {}: {}", added.id, added.name))?;
            }
            Ok(ExitCode::Ok)
        }
    }
}

/// Crawls reach a store's host through the proxies, so a host of a private network must be allowed by the operator.
fn private_host(store: &NewStore, env: &Env) -> Option<String> {
    let allowed = &env.config.http.host_allowlist;
    let host = store.api_host.as_ref().filter(|host| !hosts::is_public(host) && !allowed.contains(host))?;
    Some(format!("api_host {host} is not a public host: correct it, or add it to http.host_allowlist"))
}

/// What became of some stores.
#[derive(Default)]
struct Inserted {
    added: Vec<AddedStore>,
    known_count: usize,
    /// Of these, the ones that were put into groups.
    grouped_count: usize,
    /// Those that were not, because they would be in too many.
    full: Vec<StoreId>,
    /// One of those that existed already.
    known: Option<StoreId>,
}

/// Adds the stores that are not known. One without its platform's id gets a task that looks it up.
async fn insert(tx: &Tx, stores: &[NewStore]) -> Result<Inserted, DbError> {
    let mut inserted = Inserted::default();
    let mut tasks = Vec::new();
    for (store, row) in stores.iter().zip(db::stores::add_unless_known(tx, stores).await?) {
        if row.is_known {
            inserted.known_count += 1;
            inserted.grouped_count += usize::from(row.is_grouped);
            inserted.full.extend(row.is_full.then_some(row.id));
            inserted.known.get_or_insert(row.id);
            continue;
        }
        if store.platform_dispensary_id.is_none() {
            tasks.push((inserted.added.len(), look_up(store, row.id)));
        }
        inserted.added.push(AddedStore { id: row.id, name: store.name.clone(), entry_point_task_id: None });
    }
    let (places, tasks): (Vec<usize>, Vec<NewTask>) = tasks.into_iter().unzip();
    for (place, id) in places.into_iter().zip(db::tasks::enqueue(tx, &tasks).await?) {
        inserted.added[place].entry_point_task_id = Some(id);
    }
    Ok(inserted)
}

fn look_up(store: &NewStore, id: StoreId) -> NewTask {
    NewTask {
        dispensary_id: Some(id),
        platform: Some(store.platform.name().to_owned()),
        dedup_key: Some(format!("{}:{id}", Role::EntryPointDiscovery)),
        ..NewTask::new(Role::EntryPointDiscovery)
    }
}

async fn tag(GroupArgs { group, stores }: GroupArgs, env: &Env) -> anyhow::Result<ExitCode> {
    let changed = db::stores::tag(&env.db().await?, &group, &stores).await.map_err(|error| match error {
        DbError::Conflict { detail, .. } => CliError::conflict(detail).into(),
        other => anyhow::Error::from(other),
    })?;
    let said = |_: &_| format!("stores put into {group}: {changed}, in it already: {}", stores.len() as u64 - changed);
    env.out.either(&serde_json::json!({ "group": group, "changed": changed }), said)?;
    Ok(ExitCode::Ok)
}

async fn untag(GroupArgs { group, stores }: GroupArgs, env: &Env) -> anyhow::Result<ExitCode> {
    let db = env.db().await?;
    let changed = db::stores::untag(&db, &group, &stores).await?;
    if changed == 0 {
        groups::warn_if_empty(&db.client().await?, &group).await?;
    }
    let said = |_: &_| format!("stores taken out of {group}: {changed}");
    env.out.either(&serde_json::json!({ "group": group, "changed": changed }), said)?;
    Ok(ExitCode::Ok)
}
