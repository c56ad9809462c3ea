//! The proxies as `drover doctor` sees them: their health, one real request, and how their passwords are stored.

use futures_util::{StreamExt, TryStreamExt, stream};

use super::{Finding, unread};
use crate::cli::Env;
use crate::cli::proxies::checker::{Checker, DEFAULT_PLATFORM};
use contract::proxies::{ProxyFilter, ProxyListing};
use db::proxies::passwords::{RekeyReport, rekey};
use db::{Client, Db, DbError, proxies};
use domain::proxy::{Budgets, HealthCounts, ProxyRow, RestingProxies, ShownHealth, StoredState, address};
use foundation::secrets::SecretKeys;

const CHECK: &str = "request";
/// Number of dead proxies that are named.
const PROXIES_NAMED: i64 = 5;
/// Maximum number of proxies that a request is sent through.
const TRIED: usize = 3;

pub async fn check(db: &Db, env: &Env) -> Vec<Finding> {
    let keys = env.config.secrets.keys();
    let mut findings = vec![proxy_table(db, env.config.proxies.budgets()).await];
    findings.extend(request(db, &keys, env).await);
    findings.push(passwords(db, &keys).await);
    findings
}

async fn proxy_table(db: &Db, budgets: Budgets) -> Finding {
    let read = async {
        let client = db.client().await?;
        Ok::<_, DbError>((
            proxies::count(&client).await?,
            dead_proxies(&client).await?,
            proxies::resting(&client, budgets).await?,
        ))
    };
    match read.await {
        Ok((_, _, resting)) if resting.proxies > 0 => rest(&resting),
        Ok((counts, dead, _)) => pool(counts, &dead),
        Err(error) => unread("proxies", &error),
    }
}

/// Some that get no answer: addresses with their last errors.
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
    let error = proxy.last_error.as_ref().map(|error| format!(" ({error})")).unwrap_or_default();
    format!("proxy {} {address}{error}", proxy.id)
}

/// Said before their health: benched or not, they carry nothing more today.
fn rest(resting: &RestingProxies) -> Finding {
    let remedy = "wait, raise the budget, or import others: `drover proxies import FILE`";
    match resting.is_all() {
        true => Finding::fault("proxies", format!("nothing is fetched: {resting}"), remedy),
        false => Finding::advice("proxies", resting.to_string(), remedy),
    }
}

/// `dead`: some proxies that get no answer.
fn pool(counts: HealthCounts, dead: &[String]) -> Finding {
    if counts.switched_on() == 0 {
        return no_proxy(counts.off);
    }
    let named = if dead.is_empty() { String::new() } else { format!("; no answers through {}", dead.join(", ")) };
    if counts.healthy + counts.untested == 0 {
        let detail = format!("no proxy is healthy or untested: {counts}{named}");
        let remedy = "benched proxies are tried again automatically; `drover proxies check` tries all of them now, and `drover proxies import FILE` adds others";
        return Finding::fault("proxies", detail, remedy);
    }
    match dead {
        [] => Finding::well("proxies", counts.to_string()),
        _ => Finding::advice(
            "proxies",
            format!("{counts}{named}"),
            "replace them, or switch them off with `drover proxies disable ID`",
        ),
    }
}

fn no_proxy(off: usize) -> Finding {
    let remedy = match off {
        0 => "import proxies: `drover proxies import FILE`",
        _ => "import others (`drover proxies import FILE`), or switch these on: `drover proxies enable ID`",
    };
    let pool = if off == 0 { "no proxy exists".to_owned() } else { format!("no proxy is switched on, {off} off") };
    let detail = format!("{pool}: nothing is fetched, and `drover worker` does not start for roles that need one");
    Finding::fault("proxies", detail, remedy)
}

/// Sends one request to the platform through a few proxies at once, the best ones, until an answer comes. None
/// without a proxy to try.
async fn request(db: &Db, keys: &SecretKeys, env: &Env) -> Option<Finding> {
    if env.is_of_demo() {
        return Some(Finding::well(CHECK, "not tested: a demo's proxies reach only its simulated site"));
    }
    let loaded = async { proxies::load(&db.client().await?, keys).await };
    let rows = match loaded.await {
        Ok(loaded) => best(loaded.rows),
        Err(error) => return Some(unread(CHECK, &error)),
    };
    if rows.is_empty() {
        return None;
    }
    Some(match tried(&rows, env).await {
        Ok(Ok(detail)) => Finding::well(CHECK, detail),
        Ok(Err(failures)) => Finding::fault(
            CHECK,
            failures.join("; "),
            "check this machine's network, or try every proxy with `drover proxies check`",
        ),
        Err(error) => Finding::fault(CHECK, format!("{error:#}"), "correct the configuration"),
    })
}

fn best(rows: Vec<ProxyRow>) -> Vec<ProxyRow> {
    let mut rows: Vec<_> = rows.into_iter().filter(|row| row.stored != StoredState::Off).collect();
    rows.sort_by_key(|row| match row.shown_health() {
        ShownHealth::Healthy => 0,
        ShownHealth::Untested => 1,
        _ => 2,
    });
    rows.truncate(TRIED);
    rows
}

/// The first answer in words, or the failure of each proxy.
async fn tried(rows: &[ProxyRow], env: &Env) -> anyhow::Result<Result<String, Vec<String>>> {
    let checker = Checker::new(&env.config, rows, DEFAULT_PLATFORM)?;
    let mut checks = stream::iter(0..rows.len()).map(|nth| checker.check_next(nth)).buffer_unordered(TRIED);
    let address = |id| rows.iter().find(|row| row.proxy.id == id).map(|row| row.proxy.address()).unwrap_or_default();
    let mut failures = Vec::new();
    while let Some((id, result)) = checks.try_next().await? {
        match result {
            Ok(took) => return Ok(Ok(format!("the platform answered through {} in {took:.1?}", address(id)))),
            Err(reason) => failures.push(format!("no answer through {}: {reason}", address(id))),
        }
    }
    Ok(Err(failures))
}

/// Checks how the proxies' passwords are stored, and whether they are readable.
async fn passwords(db: &Db, keys: &SecretKeys) -> Finding {
    let counted = async { rekey(&db.client().await?, keys, true).await };
    match counted.await {
        Ok(all) => stored_passwords(&all, keys.current_id()),
        Err(error) => unread("passwords", &error),
    }
}

fn stored_passwords(all: &RekeyReport, key: Option<&str>) -> Finding {
    if let Some(first) = all.unreadable.first() {
        let detail =
            format!("{} cannot be read, for example that of proxy {}: {}", all.unreadable.len(), first.id, first.error);
        let add_key = "add the key to secrets.previous_keys, or import these proxies again";
        return Finding::fault("passwords", detail, add_key);
    }
    let remedy = "run `drover proxies rekey`";
    match key {
        None if all.encrypted + all.current == 0 => Finding::well("passwords", "no password is stored"),
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

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

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
}
