//! `drover doctor`: checks what drover needs on this machine, and names a remedy for each fault.

mod credentials;
mod disk;
mod finding;
#[cfg(feature = "media")]
mod media;
mod pauses;
mod pooler;
mod proxies;
mod stores;

use std::net::Ipv4Addr;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use chrono::{DateTime, Utc};
use serde_json::json;

use self::finding::Finding;
use super::env::database_name;
use super::{Env, ExitCode, process, shown};
use crate::app::predecessors;
use crate::features;
use db::schema::migrate::MigrateError;
use db::schema::server_info::ServerInfo;
use db::{Db, DbError, schema, workers};
use domain::worker::WorkerStatus;
use foundation::clock::Clock;
use geo::{Geo, GeoError};

/// Open files that 75 workers with their sockets and files need, with a margin.
const FILES_NEEDED: u64 = 4096;
/// Maximum number of characters of a detail or a remedy.
const MAX_TEXT: usize = 2_000;
/// Maximum difference of the clocks: logs have this machine's time and are compared with rows in the
/// database's.
const MAX_CLOCK_SKEW: Duration = Duration::from_secs(2);

#[derive(Debug, clap::Args)]
pub struct Args {}

pub async fn run(_: Args, env: &Env) -> anyhow::Result<ExitCode> {
    let mut findings = vec![configuration(env), disk::place(&env.config).await, files(), places(env).await];
    findings.push(features());
    #[cfg(feature = "media")]
    findings.extend(media::check(&env.config).await);
    findings.extend(database(env).await);
    match env.out.is_json() {
        true => env.out.value(&json!({ "findings": findings }))?,
        false => findings.iter().try_for_each(|finding| env.out.line(text(finding)))?,
    }
    Ok(if findings.iter().all(|finding| finding.ok) { ExitCode::Ok } else { ExitCode::Failure })
}

/// The optional parts of this build. A missing one is none of its faults: the demo does without some.
fn features() -> Finding {
    let (built, absent) = (features::built().join(", "), features::absent());
    match absent.is_empty() {
        true => Finding::well("features", built),
        false => Finding::advice(
            "features",
            format!("{built}; not built in: {}", absent.join(", ")),
            "take a release, or build drover with its default features, if you need them",
        ),
    }
}

/// A finding and, in a line of its own, its remedy. Neither is cut: a remedy may be a command to copy.
fn text(finding: &Finding) -> String {
    let line = format!("{:<14} {:<7} {}", finding.check, finding.mark(), shown(&finding.detail, MAX_TEXT));
    match &finding.remedy {
        Some(remedy) => format!("{line}\n{:22} remedy: {}", "", shown(remedy, MAX_TEXT)),
        None => line,
    }
}

/// Finding about the configuration, which is always good: a bad configuration ends the process before a command runs.
fn configuration(env: &Env) -> Finding {
    let loaded = env.live.current();
    let (environment, keys) = (&loaded.environment, loaded.settings.len());
    Finding::well("configuration", format!("environment {environment}, keys: {keys}"))
}

fn files() -> Finding {
    match process::file_limit() {
        Some(limit) if limit >= FILES_NEEDED => Finding::well("open files", format!("{limit} allowed")),
        limit => Finding::fault(
            "open files",
            format!("only {} allowed", limit.unwrap_or(0)),
            format!("raise the hard limit to {FILES_NEEDED} (ulimit -Hn, LimitNOFILE=)"),
        ),
    }
}

async fn places(env: &Env) -> Finding {
    let path = env.config.geo.database.as_deref();
    let (geo, path) = (Geo::new(path), path.unwrap_or(Path::new("")));
    geo.refresh().await;
    match geo.look_up(Ipv4Addr::UNSPECIFIED.into()) {
        Ok(_) => Finding::well("geo database", format!("{} can be read", path.display())),
        Err(GeoError::Off) => Finding::well("geo database", "off: geo.database names no file"),
        Err(error @ GeoError::Unreadable(_)) => Finding::fault(
            "geo database",
            format!("{}: {error}", path.display()),
            "download the file again, or correct geo.database",
        ),
    }
}

/// Checks the database; if it answers, its clock and schema; if that is current, the workers, proxies and payloads.
async fn database(env: &Env) -> Vec<Finding> {
    if !env.has_data() {
        return vec![no_data(env)];
    }
    let (db, kind, info, skew) = match reach(env, &Clock::system()).await {
        Ok(reached) => reached,
        Err(error) => {
            let remedy = match env.config.database.url.is_empty() {
                true => "correct this, or set database.url to another server",
                false => "start the server that database.url names, or unset database.url for a private server",
            };
            return vec![Finding::fault("database", format!("{error:#}"), remedy)];
        }
    };
    let answers = Finding::well("database", format!("{kind}, PostgreSQL {}", info.version));
    let mut findings = vec![answers, clocks(skew)];
    findings.extend(bad_encoding(&info.encoding));
    findings.extend(pooler::check(&db, &env.config.database).await);
    match schema::migrate::status(&db).await {
        Ok(status) if status.is_current() => {
            findings.push(Finding::well("schema", "up to date"));
            findings.push(live_workers(&db, &env.config.worker.host).await);
            findings.extend(pauses::check(&db).await);
            findings.extend(stores::check(&db).await);
            findings.extend(proxies::check(&db, env).await);
            findings.push(credentials::check(&db, &env.config.secrets.keys()).await);
            findings.extend(disk::payload_files(&db, &env.config).await);
        }
        Ok(_) => {
            let detail = "not up to date; the next service or command that writes updates it";
            findings.push(Finding::advice("schema", detail, "or run `drover migrate up` now"))
        }
        Err(error) => findings.push(bad_schema(error)),
    }
    findings
}

/// Finding before the first use: a look creates nothing.
fn no_data(env: &Env) -> Finding {
    let dir = private_server::dir_in(env.config.data_dir());
    match private_server::installed(&dir, env.config.database.pg_bin.as_deref()) {
        Ok(version) => Finding::well(
            "database",
            format!(
                "none yet in {}: the first `drover stores import FILE` or `drover up` creates it (PostgreSQL {version} is installed)",
                env.config.data_dir().display()
            ),
        ),
        Err(error) => {
            Finding::fault("database", error.to_string(), "correct this, or set database.url to another server")
        }
    }
}

fn bad_schema(error: MigrateError) -> Finding {
    let remedy = match error {
        MigrateError::Db(_) => "see the database's log",
        _ => "run the version of drover that this database needs",
    };
    Finding::fault("schema", format!("{:#}", anyhow::Error::from(error)), remedy)
}

async fn reach(env: &Env, clock: &Clock) -> anyhow::Result<(Db, &'static str, ServerInfo, Duration)> {
    let opened = env.database().await?;
    let name = || database_name(opened);
    let client = opened.db.client().await.with_context(name)?;
    let asked = clock.utc();
    let info = schema::server_info::read(&client).await.with_context(name)?;
    let skew = skew(info.now, asked, clock.utc());
    let kind = if opened.is_private() { "private server" } else { "server of database.url" };
    Ok((opened.db.clone(), kind, info, skew))
}

fn bad_encoding(encoding: &str) -> Option<Finding> {
    let detail = format!("is {encoding}, but menus need UTF8");
    (encoding != schema::server_info::ENCODING)
        .then(|| Finding::fault("encoding", detail, schema::server_info::ENCODING_REMEDY))
}

/// Distance of the database's time `theirs` from the time between `asked` and `answered`.
fn skew(theirs: DateTime<Utc>, asked: DateTime<Utc>, answered: DateTime<Utc>) -> Duration {
    let off = (asked - theirs).max(theirs - answered);
    off.to_std().unwrap_or(Duration::ZERO)
}

fn clocks(skew: Duration) -> Finding {
    if skew <= MAX_CLOCK_SKEW {
        return Finding::well("clock", "agrees with the database");
    }
    Finding::fault(
        "clock",
        format!("{skew:.1?} apart from the database's"),
        "run a time service (NTP) on both machines",
    )
}

async fn live_workers(db: &Db, host: &str) -> Finding {
    let read = async {
        let client = db.client().await?;
        let live = workers::list(&client).await?.into_iter().filter(|worker| worker.status != WorkerStatus::Offline);
        Ok((live.count(), predecessors::ended(&client, host).await?.len()))
    };
    match read.await {
        Ok((live, ended)) => running(live.saturating_sub(ended), ended),
        Err(error) => unread("workers", &error),
    }
}

/// `ended`: registered workers whose process was killed.
fn running(workers: usize, ended: usize) -> Finding {
    match (workers, ended) {
        (0, 0) => Finding::advice("workers", "no worker is running, so no task is done", "start some with `drover up`"),
        (running, 0) => Finding::well("workers", format!("{running} run")),
        (running, ended) => Finding::advice(
            "workers",
            format!("{running} run; the process of {ended} was killed"),
            "start it again, or put their tasks back with `drover tasks recover`",
        ),
    }
}

fn unread(check: &'static str, error: &DbError) -> Finding {
    Finding::fault(check, error.to_string(), "see the database's log")
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::within_the_question(500, 0)]
    #[case::behind(-3_000, 3_000)]
    #[case::ahead(5_000, 4_000)]
    fn skew_is_what_the_round_trip_does_not_explain(#[case] theirs_ms: i64, #[case] skew_ms: u64) {
        let asked = DateTime::<Utc>::UNIX_EPOCH;
        let answered = asked + TimeDelta::seconds(1);
        let theirs = asked + TimeDelta::milliseconds(theirs_ms);
        assert_eq!(skew(theirs, asked, answered), Duration::from_millis(skew_ms));
    }
}
