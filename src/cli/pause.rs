//! `drover pause` and `drover resume`: stop the claims of everything, or of one family, role, pod, worker, host
//! or store, and let them continue.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::json;

use super::{ApiClient, CliError, ClientError, Env, ExitCode, StoreName, time, values};
use contract::pauses::{Pause, PauseList, PauseRequest};
use domain::task::pause::{PauseScope, PauseTarget};
use domain::vocabulary::Word;
use foundation::clock::Clock;

const PATH: &str = "/api/pauses";
/// clap would show the reason as optional, because the list of pauses needs none.
const USAGE: &str = "drover pause
       drover pause <SCOPE> [OF] --reason <TEXT> [--for <DURATION> | --until <TIME>]";

#[derive(Debug, clap::Args)]
#[command(override_usage = USAGE)]
pub struct Args {
    /// all, family, role, pod, worker, host or store [default: list the pauses in force]
    #[arg(value_parser = values::word::<PauseScope>, requires = "reason")]
    scope: Option<PauseScope>,
    /// Name of the family (crawl, media, service), role, pod, worker or host, or id, slug or name of the store
    of: Option<String>,
    /// Reason for the pause, shown to others; required for a pause
    #[arg(long, value_name = "TEXT", requires = "scope")]
    reason: Option<String>,
    /// Resume after this time, such as 30m or 2h [default: when `drover resume` ends the pause]
    #[arg(long = "for", value_name = "DURATION", value_parser = humantime::parse_duration, requires = "scope")]
    length: Option<Duration>,
    /// Resume at this time
    #[arg(long, value_name = "TIME", value_parser = values::time, requires = "scope", conflicts_with = "length")]
    until: Option<DateTime<Utc>>,
}

#[derive(Debug, clap::Args)]
pub struct ResumeArgs {
    /// Scope of the pause: all, family, role, pod, worker, host or store
    #[arg(value_parser = values::word::<PauseScope>)]
    scope: PauseScope,
    /// Name of the family, role, pod, worker or host, or id, slug or name of the store
    of: Option<String>,
}

/// Fields of requests that a flag of another name sets.
const FLAGS: [(&str, &str); 1] = [("of", "the name")];

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    match (args.scope, args.reason) {
        (Some(scope), Some(reason)) => {
            let until = args.until.or(args.length.map(after).transpose()?);
            let api = env.api().await?;
            let of = id_of_store(scope, args.of, &api).await?;
            pause(&api, &PauseRequest { scope, of, reason, until }, env).await
        }
        _ => list(env).await,
    }
}

pub async fn resume(args: ResumeArgs, env: &Env) -> anyhow::Result<ExitCode> {
    let api = env.api().await?;
    let of = id_of_store(args.scope, args.of, &api).await?;
    let target = PauseTarget::parse(args.scope, of.as_deref())
        .map_err(|fault| CliError::usage(format!("the name after `{}` {fault}", args.scope)))?;
    let Some(pause) = find(&api, &target).await? else { return Err(not_paused(&api, &target).await?.into()) };
    api.delete(&format!("{PATH}/{}", pause.id)).await?;
    env.out.either(&json!({ "resumed": pause }), |_| format!("{} is resumed", pause.target()))?;
    Ok(ExitCode::Ok)
}

/// The id of a store that is given by its slug or name; the names of other things stay as they are.
async fn id_of_store(scope: PauseScope, of: Option<String>, api: &ApiClient) -> anyhow::Result<Option<String>> {
    let (PauseScope::Store, Some(of)) = (scope, &of) else { return Ok(of) };
    let store: StoreName = of.parse().map_err(CliError::usage)?;
    Ok(Some(store.id(api).await?.to_string()))
}

/// The time when a pause of this length ends.
fn after(length: Duration) -> Result<DateTime<Utc>, CliError> {
    let end = TimeDelta::from_std(length).ok().and_then(|length| Clock::system().utc().checked_add_signed(length));
    end.ok_or_else(|| CliError::usage("--for: is more than a year".to_owned()))
}

async fn pause(api: &ApiClient, request: &PauseRequest, env: &Env) -> anyhow::Result<ExitCode> {
    let made = api.post(PATH, request).await;
    let pause: Pause = made.map_err(|error: ClientError| error.naming_flags(&FLAGS))?;
    env.out.either(&pause, |pause| {
        let end = pause.until.map_or_else(
            || format!("until `drover resume {}`", arguments(pause)),
            |until| format!("until {}", time(until)),
        );
        format!(
            "{} is paused {end}: within a second nothing more is claimed; running tasks finish normally",
            pause.target()
        )
    })?;
    Ok(ExitCode::Ok)
}

async fn list(env: &Env) -> anyhow::Result<ExitCode> {
    let list = in_force(&env.api_to_read().await?).await?;
    env.out.list(&list, &list.pauses, &["paused", "until", "reason", "by", "since"], |pause| {
        vec![
            pause.target(),
            pause.until.map_or_else(|| "resumed".to_owned(), time),
            pause.reason.clone(),
            pause.created_by.clone(),
            time(pause.created_at),
        ]
    })?;
    env.out.note_of_none(&list.pauses, "nothing is paused");
    Ok(ExitCode::Ok)
}

async fn in_force(api: &ApiClient) -> Result<PauseList, ClientError> {
    api.get(PATH).await
}

/// The pause of this thing, if it is paused.
async fn find(api: &ApiClient, target: &PauseTarget) -> Result<Option<Pause>, ClientError> {
    let is_it = |pause: &Pause| {
        pause.scope == Word::Known(target.scope()) && pause.of.clone().unwrap_or_default() == target.name()
    };
    Ok(in_force(api).await?.pauses.into_iter().find(is_it))
}

async fn not_paused(api: &ApiClient, target: &PauseTarget) -> Result<CliError, ClientError> {
    let pauses = in_force(api).await?.pauses;
    let known: Vec<String> = pauses.iter().map(arguments).collect();
    let known = match known.is_empty() {
        true => "nothing is".to_owned(),
        false => format!("paused now: {}", known.join(", ")),
    };
    let name = target.name();
    let asked = if name.is_empty() { "everything".to_owned() } else { format!("{} {name}", target.scope()) };
    Ok(CliError::not_found(format!("{asked} is not paused; {known}")))
}

/// Arguments of `drover resume`.
pub(super) fn arguments(pause: &Pause) -> String {
    match &pause.of {
        None => pause.scope.to_string(),
        Some(of) => format!("{} {of}", pause.scope),
    }
}
