//! `drover db reader`: a login for an analyst, who may read the schema `drover_v1` and nothing else.
//!
//! It sets no password: a command line and a server's log would show it. psql's `\password` sends its hash alone.

use serde::Serialize;

use crate::cli::{CliError, Env, ExitCode};
use db::schema::reader::{self, LoginName, ReaderError};

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Name of the login, such as anna; it has no password yet
    #[arg(value_name = "LOGIN")]
    login: LoginName,
    /// Only print the statements, for an administrator of the server
    #[arg(long)]
    sql: bool,
}

#[derive(Serialize)]
struct Answer<'a> {
    login: &'a str,
    /// False: it existed, and may read this database now.
    made: bool,
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    let Args { login, sql } = args;
    if sql {
        env.out.line(reader::statements(&login).trim_end())?;
        return Ok(ExitCode::Ok);
    }
    let db = env.db().await?;
    let made = reader::add(&db, &login).await.map_err(|error| refusal(error, &login))?;
    env.out.either(&Answer { login: login.as_str(), made }, text)?;
    Ok(ExitCode::Ok)
}

fn refusal(error: ReaderError, login: &LoginName) -> anyhow::Error {
    let login = login.as_str();
    match error {
        ReaderError::Taken(_) => CliError::conflict(error.to_string()).into(),
        ReaderError::NoRight => CliError::conflict(format!(
            "{error}: let an administrator of the server run `drover db reader {login} --sql | psql URL`"
        ))
        .into(),
        ReaderError::Db(error) => error.into(),
    }
}

fn text(answer: &Answer) -> String {
    let login = answer.login;
    match answer.made {
        true => {
            format!("The login {login} may read drover_v1. Set its password: drover db psql -c '\\password {login}'")
        }
        false => format!("The login {login} may read drover_v1 of this database."),
    }
}
