//! `drover migrate`: brings the schema up to date, or shows its state.
//!
//! Every process that writes does the same when it starts; the command serves deployments that migrate in a
//! separate step.

use clap::Subcommand;

use super::env::schema_error;
use super::{Env, ExitCode, time};
use db::schema;
use db::schema::migrate::{Report, Status};

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Apply missing migrations
    Up,
    /// List applied and missing migrations
    Status,
    /// Exit with 0 if the schema is up to date, else with 1
    Check,
}

pub async fn run(command: Command, env: &Env) -> anyhow::Result<ExitCode> {
    let opened = env.database().await?;
    let (db, named) = (&opened.db, |error| schema_error(opened, error));
    match command {
        Command::Up => {
            env.out.either(&schema::migrate::up(db).await.map_err(named)?, applied)?;
            Ok(ExitCode::Ok)
        }
        Command::Status => {
            env.out.either(&schema::migrate::status(db).await.map_err(named)?, listing)?;
            Ok(ExitCode::Ok)
        }
        Command::Check => {
            let status = schema::migrate::status(db).await.map_err(named)?;
            env.out.either(&status, summary)?;
            Ok(if status.is_current() { ExitCode::Ok } else { ExitCode::Failure })
        }
    }
}

fn applied(report: &Report) -> String {
    if *report == Report::default() {
        return "the schema is up to date".to_owned();
    }
    let names = report.applied.iter().map(|name| format!("applied   {name}"));
    let objects = report.objects.iter().map(|name| format!("replaced  {name}"));
    names.chain(objects).collect::<Vec<_>>().join("\n")
}

fn listing(status: &Status) -> String {
    let done = status.applied.iter().map(|done| format!("applied  {}  {}", time(done.applied_at), done.name));
    let missing = status.pending.iter().chain(&status.objects).map(|name| format!("missing  {name}"));
    let newer = status.has_newer_objects.then(|| "newer    schema objects from a newer drover, kept".to_owned());
    done.chain(missing).chain(newer).collect::<Vec<_>>().join("\n")
}

fn summary(status: &Status) -> String {
    match status.missing() {
        0 => "the schema is up to date".to_owned(),
        missing => format!("missing migrations and objects: {missing}; run `drover migrate up`"),
    }
}
