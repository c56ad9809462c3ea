//! `drover stores`: adds, imports, groups, lists and switches the stores whose menus are crawled.

mod file;
mod import;
mod list;
mod switch;

use clap::Subcommand;

use super::client::{ApiClient, ClientError};
use super::{CliError, Env, ExitCode, groups, values};
use crate::api::store_imports::{StoreFields, StoreImport};
use crate::db::store_requests::ImportedStores;
use crate::db::stores::NewStore;
use crate::db::{self, DbError};
use crate::domain::group;
use crate::domain::store::StoreId;
use crate::store_draft::{StoreDraft, private_host};

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Add one store
    Add(Box<StoreDraft>),
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

async fn add(draft: StoreDraft, env: &Env) -> anyhow::Result<ExitCode> {
    let store = draft.check().map_err(|faults| CliError::usage(faults.join("; ")))?;
    if let Some(fault) = private_host_here(&store, env) {
        return Err(CliError::usage(fault).into());
    }
    let ImportedStores { imported, known, .. } = import_part(&env.api().await?, &[store]).await?;
    if let [id] = known[..] {
        return Err(CliError::conflict(format!("the store exists already: its id is {id}")).into());
    }
    for added in &imported {
        env.out.either(added, |added| format!("store {}: {}", added.id, added.name))?;
    }
    Ok(ExitCode::Ok)
}

/// A server has an allow-list of its own.
fn private_host_here(store: &NewStore, env: &Env) -> Option<String> {
    if env.is_remote() { None } else { private_host(store, &env.config.http.host_allowlist) }
}

async fn import_part(api: &ApiClient, stores: &[NewStore]) -> Result<ImportedStores, ClientError> {
    let stores = stores.iter().cloned().map(StoreFields::from).collect();
    api.post("/api/stores/import", &StoreImport { stores }).await
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
