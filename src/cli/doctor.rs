//! `drover doctor`: checks what drover needs on this machine, and names a remedy for each fault.

use std::net::Ipv4Addr;
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use chrono::{DateTime, Utc};
use serde::Serialize;

use super::env::database_name;
use super::{Env, ExitCode, process};
use contract::proxies::{ProxyFilter, ProxyListing};
use db::migrate::{self, MigrateError};
use db::proxy_passwords::{RekeyReport, rekey};
use db::server_info::{self, ServerInfo};
use db::{Client, Db, DbError, installation, payloads, proxies};
use domain::proxy::{Budgets, HealthCounts, ShownHealth, address};
use foundation::clock::Clock;
use foundation::secrets::SecretKeys;
use geo::{Geo, GeoError};
use storage::Payloads;

/// Open files that 75 workers with their sockets and files need, with a margin.
const FILES_NEEDED: u64 = 4096;
/// Number of the newest payloads whose files are checked.
const FILES_CHECKED: i64 = 100;
/// Number of dead proxies that are named.
const PROXIES_NAMED: i64 = 5;

/// Maximum difference of the clocks: logs have this machine's time and are compared with rows in the
/// database's.
const MAX_CLOCK_SKEW: Duration = Duration::from_secs(2);

#[derive(Debug, clap::Args)]
pub struct Args {}

#[derive(Serialize)]
struct Finding {
    check: &'static str,
    result: Verdict,
    /// Whether it is no fault.
    ok: bool,
    detail: String,
    /// The remedy, or an advice; None when all is well.
    remedy: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Ok,
    /// All works, and could be better.
    Advice,
    Fault,
}

pub async fn run(_: Args, env: &Env) -> anyhow::Result<ExitCode> {
    let mut findings = vec![configuration(env), storage(env.config.storage_root()), files(), places(env).await];
    findings.extend(database(env).await);
    env.out.listed("findings", &findings, &["check", "result", "finding"], |finding| {
        let mark = match finding.result {
            Verdict::Ok => "ok",
            Verdict::Advice => "advice",
            Verdict::Fault => "FAULT",
        };
        let remedy = finding.remedy.as_deref().map(|remedy| format!("; {remedy}")).unwrap_or_default();
        vec![finding.check.to_owned(), mark.to_owned(), format!("{}{remedy}", finding.detail)]
    })?;
    Ok(if findings.iter().all(|finding| finding.ok) { ExitCode::Ok } else { ExitCode::Failure })
}

impl Finding {
    fn well(check: &'static str, detail: impl Into<String>) -> Self {
        Finding { check, result: Verdict::Ok, ok: true, detail: detail.into(), remedy: None }
    }

    fn advice(check: &'static str, detail: impl Into<String>, remedy: impl Into<String>) -> Self {
        Finding { check, result: Verdict::Advice, ok: true, detail: detail.into(), remedy: Some(remedy.into()) }
    }

    fn fault(check: &'static str, detail: impl Into<String>, remedy: impl Into<String>) -> Self {
        Finding { check, result: Verdict::Fault, ok: false, detail: detail.into(), remedy: Some(remedy.into()) }
    }
}

/// Always good: a bad configuration ends the process before a command runs.
fn configuration(env: &Env) -> Finding {
    let (environment, keys) = (&env.loaded.environment, env.loaded.settings.len());
    Finding::well("configuration", format!("environment {environment}, keys: {keys}"))
}

fn storage(root: &Path) -> Finding {
    let shown = root.display();
    // a check creates nothing; a symbolic link whose target is missing exists
    let nearest = root.ancestors().find(|dir| dir.symlink_metadata().is_ok()).unwrap_or(Path::new("."));
    match tempfile::NamedTempFile::new_in(nearest) {
        Ok(_) if nearest == root => Finding::well("storage", format!("{shown} is writable")),
        Ok(_) => Finding::well("storage", format!("{shown} does not exist yet and can be created")),
        Err(error) => Finding::fault(
            "storage",
            format!("{shown} is not writable ({error})"),
            "make it writable for this user, or set storage.root to another directory",
        ),
    }
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

/// Checks the database; if it answers, its clock and schema; if that is current, the proxies.
async fn database(env: &Env) -> Vec<Finding> {
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
    match migrate::status(&db).await {
        Ok(status) if status.is_current() => {
            findings.push(Finding::well("schema", "up to date"));
            findings.push(proxy_table(&db).await);
            findings.push(passwords(&db, &env.config.secrets.keys()).await);
            findings.extend(payload_files(&db, env.config.storage_root()).await);
        }
        Ok(_) => {
            let detail = "not up to date; the next service or command that writes updates it";
            findings.push(Finding::advice("schema", detail, "or run `drover migrate up` now"))
        }
        Err(error) => findings.push(bad_schema(error)),
    }
    findings
}

fn bad_schema(error: MigrateError) -> Finding {
    let remedy = match error {
        MigrateError::Db(_) => "see the database's log",
        _ => "run the program that fits this database",
    };
    Finding::fault("schema", format!("{:#}", anyhow::Error::from(error)), remedy)
}

async fn reach(env: &Env, clock: &Clock) -> anyhow::Result<(Db, &'static str, ServerInfo, Duration)> {
    let opened = env.database().await?;
    let name = || database_name(opened);
    let client = opened.db.client().await.with_context(name)?;
    let asked = clock.utc();
    let info = server_info::read(&client).await.with_context(name)?;
    let skew = skew(info.now, asked, clock.utc());
    let kind = if opened.is_private() { "private server" } else { "server of database.url" };
    Ok((opened.db.clone(), kind, info, skew))
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

async fn proxy_table(db: &Db) -> Finding {
    let read = async {
        let client = db.client().await?;
        Ok::<_, DbError>((proxies::count(&client).await?, dead_proxies(&client).await?))
    };
    match read.await {
        Ok((counts, dead)) => pool(counts, &dead),
        Err(error) => Finding::fault("proxies", error.to_string(), "see the database's log"),
    }
}

/// Some that bring no answer: addresses with their last errors.
async fn dead_proxies(client: &Client) -> Result<Vec<String>, DbError> {
    let of = async |health| {
        let filter = ProxyFilter { health: Some(health), ..ProxyFilter::default() };
        proxies::list(client, &filter, Budgets::default(), PROXIES_NAMED).await
    };
    let mut dead = of(ShownHealth::Failing).await?;
    dead.extend(of(ShownHealth::Benched).await?.into_iter().filter(is_benched_everywhere));
    dead.truncate(PROXIES_NAMED as usize);
    Ok(dead.iter().map(named).collect())
}

fn is_benched_everywhere(proxy: &ProxyListing) -> bool {
    proxy.benched.iter().any(|bench| bench.host.is_none())
}

fn named(proxy: &ProxyListing) -> String {
    let address = address(&proxy.protocol, &proxy.host, proxy.port);
    match &proxy.last_error {
        Some(error) => format!("{address} ({error})"),
        None => address,
    }
}

/// Checks that the files of the newest payloads exist, which a restore of the database alone does not bring.
/// None without payloads.
async fn payload_files(db: &Db, root: &Path) -> Option<Finding> {
    match missing_files(db, root).await {
        Ok((0, _)) => None,
        Ok((looked_at, missing)) => Some(files_of_rows(looked_at, &missing)),
        Err(error) => Some(Finding::fault(
            "payload files",
            format!("{error:#}"),
            "mount the storage root with the payloads of this database, or set storage.root to it",
        )),
    }
}

/// Number of payloads checked, and the paths of missing files.
async fn missing_files(db: &Db, root: &Path) -> anyhow::Result<(usize, Vec<String>)> {
    let client = db.client().await?;
    let paths = payloads::newest_paths(&client, FILES_CHECKED).await?;
    let files = Payloads::new(root, installation::storage_owner(&client).await?);
    let missing = files.missing(paths.clone()).await?;
    Ok((paths.len(), paths.into_iter().filter(|path| missing.contains(path)).collect()))
}

fn files_of_rows(looked_at: usize, missing: &[String]) -> Finding {
    let Some(first) = missing.first() else {
        return Finding::well("payload files", format!("the newest {looked_at} exist"));
    };
    Finding::fault(
        "payload files",
        format!("{} of the newest {looked_at} are missing, such as {first}", missing.len()),
        "restore the files from the same time as the database; missing ones are fetched again when a refresh needs them",
    )
}

/// Checks how the proxies' passwords are stored, and whether they are readable.
async fn passwords(db: &Db, keys: &SecretKeys) -> Finding {
    let counted = async { rekey(&db.client().await?, keys, true).await };
    match counted.await {
        Ok(all) => stored_passwords(&all, keys.current_id()),
        Err(error) => Finding::fault("passwords", error.to_string(), "see the database's log"),
    }
}

fn stored_passwords(all: &RekeyReport, key: Option<&str>) -> Finding {
    if let Some(first) = all.unreadable.first() {
        let detail =
            format!("{} cannot be read, for example of proxy {}: {}", all.unreadable.len(), first.id, first.error);
        let add_key = "add the key to secrets.previous_keys, or import these proxies again";
        return Finding::fault("passwords", detail, add_key);
    }
    let remedy = "run `drover proxies rekey`";
    match key {
        None if all.encrypted + all.current == 0 => Finding::well("passwords", "none stored"),
        None => {
            Finding::advice("passwords", "stored in plain text", "set secrets.key, then run `drover proxies rekey`")
        }
        Some(_) if all.encrypted > 0 => {
            Finding::fault("passwords", format!("{} stored in plain text", all.encrypted), remedy)
        }
        Some(_) if all.reencrypted > 0 => {
            Finding::advice("passwords", format!("{} encrypted with a previous key", all.reencrypted), remedy)
        }
        Some(key) => Finding::well("passwords", format!("encrypted with key {key}")),
    }
}

/// `dead`: some of those that bring no answer.
fn pool(counts: HealthCounts, dead: &[String]) -> Finding {
    if counts.switched_on() == 0 {
        return no_proxy(counts.off);
    }
    let named = if dead.is_empty() { String::new() } else { format!("; no answer comes through {}", dead.join(", ")) };
    if counts.healthy + counts.untested == 0 {
        let detail = format!("none is healthy or untested: {counts}{named}");
        let remedy = "benched ones are tried again by themselves; `drover proxies check` tries all of them now, and `drover proxies import FILE` adds others";
        return Finding::fault("proxies", detail, remedy);
    }
    match dead {
        [] => Finding::well("proxies", counts.to_string()),
        _ => Finding::advice(
            "proxies",
            format!("{counts}{named}"),
            "replace them, or switch them off by `drover proxies disable ID`",
        ),
    }
}

fn no_proxy(off: usize) -> Finding {
    let remedy = match off {
        0 => "import some: `drover proxies import FILE`",
        _ => "import others (`drover proxies import FILE`), or switch these on: `drover proxies enable ID`",
    };
    let detail = format!(
        "none is switched on, {off} off: nothing is fetched, and `drover worker` does not start for roles that need one"
    );
    Finding::fault("proxies", detail, remedy)
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use rstest::rstest;

    use super::*;

    #[test]
    fn a_storage_root_that_is_missing_is_not_made() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("share/drover");
        let finding = storage(&root);
        assert!(finding.ok && finding.detail.contains("can be created"), "{}", finding.detail);
        assert!(!dir.path().join("share").exists());
    }

    #[test]
    fn a_storage_root_that_leads_nowhere_is_a_fault() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("root");
        std::os::unix::fs::symlink(dir.path().join("share"), &root).unwrap();
        assert!(!storage(&root).ok);
    }

    #[test]
    fn proxies_that_are_switched_off_are_not_reported_as_absent() {
        let finding = pool(HealthCounts { off: 3, ..HealthCounts::default() }, &[]);
        assert!(!finding.ok && finding.detail.contains("3 off"), "{}", finding.detail);
        let remedy = finding.remedy.unwrap_or_default();
        assert!(remedy.contains("proxies enable"), "{remedy}");
    }

    #[rstest]
    #[case::untested(HealthCounts { untested: 1, ..HealthCounts::default() }, false, (true, false))]
    #[case::one_of_two_is_dead(HealthCounts { healthy: 1, failing: 1, ..HealthCounts::default() }, true, (true, true))]
    #[case::the_only_one_is_dead(HealthCounts { failing: 1, ..HealthCounts::default() }, true, (false, true))]
    #[case::all_are_refused(HealthCounts { refused: 2, ..HealthCounts::default() }, false, (false, true))]
    fn dead_proxies_are_named_and_are_a_fault_where_none_else_serves(
        #[case] counts: HealthCounts,
        #[case] has_dead: bool,
        #[case] (is_ok, has_remedy): (bool, bool),
    ) {
        let dead = has_dead.then(|| "http://192.0.2.1:80 (reset)".to_owned());
        let finding = pool(counts, dead.as_slice());
        assert_eq!((finding.ok, finding.remedy.is_some()), (is_ok, has_remedy), "{}", finding.detail);
        assert_eq!(finding.detail.contains("192.0.2.1"), has_dead, "{}", finding.detail);
    }

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
