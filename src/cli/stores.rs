//! `drover stores`: adds, imports, edits, groups, lists, switches and deletes the stores whose menus are crawled.

mod accept;
mod crawl;
mod delete;
mod edit;
mod file;
mod import;
mod list;
mod switch;

use clap::Subcommand;

use super::store_name::Stores;
use super::{ApiClient, CliError, ClientError, Env, ExitCode, groups};
use crate::platforms::MenuAddresses;
use api::store_draft::{StoreDraft, bad_host};
use contract::groups::{GroupChange, GroupStores};
use contract::stores::{ImportedStores, StoreFields, StoreImport};
use domain::store;
use domain::store::NewStore;

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Add one store
    Add(Box<StoreDraft>),
    /// Import stores from a CSV file. If one line is wrong, nothing is imported
    Import(import::Args),
    /// List stores with their last crawl
    List(list::Args),
    /// Correct the name, slug, menu URL, platform id or place of a store. With another platform id it is crawled at
    /// once; without one, another slug or URL is looked up at once
    Edit(edit::Args),
    /// Crawl stores now
    Crawl(Stores),
    /// Start crawling disabled stores again
    Enable(Stores),
    /// Stop crawling stores until you enable them again. Their products are kept
    Disable(Stores),
    /// Accept a mass change that `quality list` shows as suspicious_switch: the next answer that says the same is believed
    Accept(accept::Args),
    /// Accept that a store sells nothing: the next crawl keeps its empty menu
    AcceptEmpty(accept::Args),
    /// Delete stores that you added by mistake. To keep what was crawled, disable them
    Delete(delete::Args),
    /// Add stores to a group. A group can have its own schedules
    Tag(GroupArgs),
    /// Remove stores from a group
    Untag(GroupArgs),
}

#[derive(Debug, clap::Args)]
pub struct GroupArgs {
    /// Name of the group: letters, digits, hyphens and underscores
    #[arg(value_parser = store::group::name)]
    group: String,
    #[command(flatten)]
    stores: Stores,
}

pub async fn run(command: Command, env: &Env) -> anyhow::Result<ExitCode> {
    match command {
        Command::Add(draft) => add(*draft, env).await,
        Command::Import(args) => import::run(args, env).await,
        Command::List(args) => list::run(args, env).await,
        Command::Edit(args) => edit::run(args, env).await,
        Command::Crawl(args) => crawl::run(args, env).await,
        Command::Enable(args) => switch::run(args, true, env).await,
        Command::Disable(args) => switch::run(args, false, env).await,
        Command::Delete(args) => delete::run(args, env).await,
        Command::Accept(args) => accept::mass_change(args, env).await,
        Command::AcceptEmpty(args) => accept::empty_menu(args, env).await,
        Command::Tag(args) => tag(args, env).await,
        Command::Untag(args) => untag(args, env).await,
    }
}

async fn add(draft: StoreDraft, env: &Env) -> anyhow::Result<ExitCode> {
    let store = draft.check(&MenuAddresses::of(&env.config)).map_err(|faults| CliError::usage(faults.join("; ")))?;
    if let Some(fault) = bad_host_here(&store, env) {
        return Err(CliError::usage(fault).into());
    }
    let ImportedStores { imported, known, renamed, .. } = import_part(&env.api().await?, &[store]).await?;
    if let [store] = &renamed[..] {
        return Err(CliError::conflict(format!("the store exists already: {}", import::renamed(store))).into());
    }
    if let [id] = known[..] {
        return Err(CliError::conflict(format!("the store exists already; its id is {id}")).into());
    }
    for added in &imported {
        env.out.either(added, |added| format!("store {}: {}", added.id, added.name))?;
    }
    Ok(ExitCode::Ok)
}

/// None with `--url`: the server has its own settings.
fn bad_host_here(store: &NewStore, env: &Env) -> Option<String> {
    if env.is_remote() {
        return None;
    }
    bad_host(store, &env.config.http.host_allowlist, &MenuAddresses::of(&env.config))
}

async fn import_part(api: &ApiClient, stores: &[NewStore]) -> Result<ImportedStores, ClientError> {
    let stores = stores.iter().cloned().map(StoreFields::from).collect();
    api.post("/api/stores/import", &StoreImport { stores, dry_run: false }).await
}

async fn tag(GroupArgs { group, stores }: GroupArgs, env: &Env) -> anyhow::Result<ExitCode> {
    let api = env.api().await?;
    let stores = stores.ids(&api).await?;
    let asked = stores.len() as u64;
    let request = GroupStores { add: stores, ..GroupStores::default() };
    let GroupChange { added, .. } = change_group(&api, &group, &request).await?;
    let said = |_: &_| format!("stores added to {group}: {added}, already in it: {}", asked - added);
    env.out.either(&serde_json::json!({ "group": group, "changed": added }), said)?;
    Ok(ExitCode::Ok)
}

async fn untag(GroupArgs { group, stores }: GroupArgs, env: &Env) -> anyhow::Result<ExitCode> {
    let api = env.api().await?;
    let request = GroupStores { remove: stores.ids(&api).await?, ..GroupStores::default() };
    let GroupChange { removed, .. } = change_group(&api, &group, &request).await?;
    if removed == 0 {
        groups::warn_if_empty(&api, &group).await?;
    }
    let said = |_: &_| format!("stores removed from {group}: {removed}");
    env.out.either(&serde_json::json!({ "group": group, "changed": removed }), said)?;
    Ok(ExitCode::Ok)
}

async fn change_group(api: &ApiClient, group: &str, request: &GroupStores) -> Result<GroupChange, ClientError> {
    api.post(&format!("/api/groups/{group}/stores"), request).await
}
