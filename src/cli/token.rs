//! `drover token`: makes, lists and revokes the tokens that open the API.

use clap::Subcommand;

use super::output::time;
use super::{Env, ExitCode, values};
use contract::tokens::{MadeToken, NewToken, TokenList};
use domain::access::{AccessRole, TokenId};

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Make a token and print it, once; from the first one on, the API answers nothing without one
    Create {
        /// consumer (products and stores), viewer (reads everything), operator (tasks, schedules, stores) or admin
        #[arg(long)]
        role: AccessRole,
        /// Who or what has it; stands in the audit
        #[arg(long)]
        name: String,
    },
    /// List the tokens that are not revoked
    List,
    /// Revoke a token, and end the logins by it
    Revoke {
        /// Its id, as `token list` shows it
        #[arg(value_parser = values::whole_number)]
        id: TokenId,
    },
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    match args.command {
        Command::Create { role, name } => create(NewToken { name, role }, env).await,
        Command::List => list(env).await,
        Command::Revoke { id } => {
            env.api().await?.delete(&format!("/api/tokens/{id}")).await?;
            Ok(ExitCode::Ok)
        }
    }
}

async fn create(token: NewToken, env: &Env) -> anyhow::Result<ExitCode> {
    let made: MadeToken = env.api().await?.post("/api/tokens", &token).await?;
    env.out.either(&made, |made| made.token.clone().unwrap_or_default())?;
    Ok(ExitCode::Ok)
}

async fn list(env: &Env) -> anyhow::Result<ExitCode> {
    let list: TokenList = env.api_to_read().await?.get("/api/tokens").await?;
    env.out.list(&list, &list.tokens, &["id", "name", "role", "created", "last used"], |token| {
        vec![
            token.id.to_string(),
            token.name.clone(),
            token.role.to_string(),
            time(token.created_at),
            token.last_used_at.map_or_else(|| "never".to_owned(), time),
        ]
    })?;
    Ok(ExitCode::Ok)
}
