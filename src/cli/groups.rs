//! `drover groups`: lists, renames and deletes groups of stores. `drover stores tag` and `untag` put stores
//! into them.

mod empty;

use clap::Subcommand;
use serde_json::json;

pub use self::empty::warn_if_empty;
use super::{Env, ExitCode};
use contract::groups::{Group, GroupName, GroupPage};
use domain::amounts::counted;
use domain::store;

#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the groups with their number of stores and their schedules
    List,
    /// Rename a group. Its stores and schedules stay
    Rename {
        /// Name of the group, as shown by `groups list`
        #[arg(value_parser = store::group::name)]
        group: String,
        /// New name: letters, digits, hyphens and underscores
        #[arg(value_parser = store::group::name)]
        name: String,
    },
    /// Delete a group that no schedule uses. Its stores are kept
    Delete {
        /// Name of the group, as shown by `groups list`
        #[arg(value_parser = store::group::name)]
        group: String,
    },
}

pub async fn run(command: Command, env: &Env) -> anyhow::Result<ExitCode> {
    match command {
        Command::List => list(env).await?,
        Command::Rename { group, name } => {
            let renamed: Group = env.api().await?.put(&format!("/api/groups/{group}"), &GroupName { name }).await?;
            env.out.either(&renamed, |renamed| {
                format!("{group} is now {}, with {}", renamed.name, counted(renamed.stores, "store"))
            })?;
        }
        Command::Delete { group } => {
            env.api().await?.delete(&format!("/api/groups/{group}")).await?;
            env.out.either(&json!({ "deleted": group }), |_| format!("group {group} deleted; its stores are kept"))?;
        }
    }
    Ok(ExitCode::Ok)
}

async fn list(env: &Env) -> anyhow::Result<()> {
    let page: GroupPage = env.api_to_read().await?.get("/api/groups?limit=500").await?;
    env.out.list(&page, &page.groups, &["group", "stores", "schedules"], |group| {
        vec![group.name.clone(), group.stores.to_string(), group.schedules.join(", ")]
    })?;
    env.out.note_of_none(&page.groups, "no groups to show: put stores in one with `drover stores tag GROUP ID…`");
    Ok(())
}
