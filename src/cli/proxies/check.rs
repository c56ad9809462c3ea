//! `drover proxies check`: sends one real request to a platform through each proxy. See [`Checker`].

use std::collections::HashMap;

use futures_util::{StreamExt, TryStreamExt, stream};
use serde::Serialize;

use super::checker::{self, Checker};
use crate::cli::{CliError, Env, ExitCode};
use contract::proxies::ProxyTest;
use db::proxies::LoadedProxies;
use domain::proxy::{ProxyRow, ShownHealth, StoredState};
use domain::store::Platform;
use telemetry::events;

/// Maximum proxies checked at the same time.
const CONCURRENCY: usize = 8;

#[derive(Serialize)]
struct Check {
    proxy: String,
    health: ShownHealth,
    #[serde(flatten)]
    test: ProxyTest,
}

pub async fn run(platform: Platform, env: &Env) -> anyhow::Result<ExitCode> {
    let client = env.db_to_read().await?.client().await?;
    let LoadedProxies { rows, unreadable } = db::proxies::load(&client, &env.config.secrets.keys()).await?;
    for proxy in &unreadable {
        events::proxy_unreadable(proxy.id, &format!("{}:{}", proxy.host, proxy.port), &proxy.error);
    }
    let rows: Vec<ProxyRow> = rows.into_iter().filter(|row| row.stored != StoredState::Off).collect();
    if rows.is_empty() {
        return Err(CliError::not_found("no proxy to check: add some with `drover proxies import FILE`").into());
    }
    let checker = Checker::new(&env.config, &rows, platform)?;
    let checked = stream::iter(0..rows.len()).map(|nth| checker.check_next(nth)).buffer_unordered(CONCURRENCY);
    let mut results: HashMap<_, _> = checked.try_collect().await?;
    let checks: Vec<Check> = rows.iter().map(|row| Check::of(row, results.remove(&row.proxy.id))).collect();
    env.out.rows(&checks, &["id", "proxy", "health", "check", "ms", "reason"], |check| {
        vec![
            check.test.id.to_string(),
            check.proxy.clone(),
            check.health.to_string(),
            if check.test.ok { "ok" } else { "FAILED" }.to_owned(),
            check.test.latency_ms.map(|ms| ms.to_string()).unwrap_or_default(),
            check.test.reason.clone().unwrap_or_default(),
        ]
    })?;
    env.out.note("a check is one manual request: it does not change the health that `drover proxies list` shows");
    Ok(exit_code(&checks))
}

fn exit_code(checks: &[Check]) -> ExitCode {
    match checks.iter().filter(|check| !check.test.ok).count() {
        0 => ExitCode::Ok,
        failed if failed == checks.len() => ExitCode::Failure,
        _ => ExitCode::PartialFailure,
    }
}

impl Check {
    fn of(row: &ProxyRow, result: Option<Result<std::time::Duration, String>>) -> Check {
        let result = result.unwrap_or_else(|| Err("nothing was sent".to_owned()));
        Check { proxy: row.proxy.address(), health: row.shown_health(), test: checker::test_of(row.proxy.id, result) }
    }
}
