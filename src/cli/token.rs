//! `drover token`: makes, lists and revokes the tokens that open the API.

use clap::Subcommand;
use serde_json::json;

use super::{Env, ExitCode, time, values};
use contract::tokens::{MadeToken, NewToken, TokenList};
use domain::access::{AccessRole, TokenId};

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Create a token and print it once. After the first one exists, every API request needs a token
    Create {
        /// Permissions: consumer (reads products and stores), viewer (reads everything), operator (also changes tasks, schedules and stores) or admin
        #[arg(long)]
        role: AccessRole,
        /// Name of its owner, shown in `drover audit`
        #[arg(long)]
        name: String,
    },
    /// List valid tokens
    List,
    /// Revoke a token and log out its users
    Revoke {
        /// Token id, as shown by `token list`
        #[arg(allow_negative_numbers = true, value_parser = values::id)]
        id: TokenId,
    },
}

pub async fn run(command: Command, env: &Env) -> anyhow::Result<ExitCode> {
    match command {
        Command::Create { role, name } => create(NewToken { name, role }, env).await,
        Command::List => list(env).await,
        Command::Revoke { id } => revoke(id, env).await,
    }
}

async fn create(token: NewToken, env: &Env) -> anyhow::Result<ExitCode> {
    let made: MadeToken = env.api().await?.post("/api/tokens", &token).await?;
    env.out.either(&made, |made| made.token.clone().unwrap_or_default())?;
    Ok(ExitCode::Ok)
}

async fn revoke(id: TokenId, env: &Env) -> anyhow::Result<ExitCode> {
    let api = env.api().await?;
    let list: TokenList = api.get("/api/tokens").await?;
    let name = list.tokens.into_iter().find(|token| token.id == id).map(|token| token.name);
    api.delete(&format!("/api/tokens/{id}")).await?;
    let revoked = json!({ "id": id, "name": name, "revoked": true });
    let of = name.map(|name| format!(" of {name}")).unwrap_or_default();
    env.out.either(&revoked, |_| format!("token {id}{of} is revoked, and its users are logged out"))?;
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
    env.out.note_of_none(
        &list.tokens,
        "no tokens to show: the API needs none until `drover token create --role admin --name NAME` creates the first",
    );
    Ok(ExitCode::Ok)
}
