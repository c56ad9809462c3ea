//! `drover platforms check`: which client a platform answers, through which proxies, found out by one request for each setting.
//!
//! In: a platform, switched on or off, and a store of it. Out: a table of the answers, and the setting that works. Requests go through
//! proxies alone, one after the other, by sessions as tasks have them. Only rows are read: workers judge the health of proxies. No
//! robots.txt is requested, as with other requests by hand.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use crate::app::data::DataFiles;
use crate::cli::proxies::checker::{SingleUseProxies, single_tries};
use crate::cli::{CliError, Env, ExitCode};
use crate::platforms::{Adapter, Query, adapter, menu_key, visitor_request};
use crate::stealth::{AllowList, FetchError, Identities, IdentityKind, Request, SessionAsk, States};
use db::Client;
use db::proxies::LoadedProxies;
use domain::proxy::{ProxyId, ProxyRow, StoredState};
use domain::store::per_platform::PerPlatform;
use domain::store::{Platform, Store, StoreId};
use foundation::clock::Clock;
use settings::Config;

/// Maximum number of products on the page that is asked for.
const MAX_PER_PAGE: u32 = 20;
/// Maximum number of groups of proxies.
const MAX_GROUPS: usize = 2;
/// Minimum time since a crawl used a proxy: workers write it three times in this time.
const MIN_IDLE: Duration = Duration::from_secs(60);

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Menu platform
    platform: Platform,
    /// The store whose menu is asked for: its id, or the URL of its menu [default: the first of the platform that is crawled]
    #[arg(long, value_name = "URL|ID")]
    store: Option<String>,
}

#[derive(Serialize)]
struct Report {
    platform: Platform,
    menu: String,
    checks: Vec<Check>,
    verdict: String,
}

/// The answer to one setting.
#[derive(Serialize)]
struct Check {
    identity: &'static str,
    /// Host of the proxies.
    group: String,
    proxy: Option<ProxyId>,
    status: Option<u16>,
    /// `ok`, or the outcome as metrics name it, such as `blocked`, `challenged` and `timeout`.
    class: &'static str,
    ms: Option<u64>,
    detail: Option<String>,
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    let client = env.db_to_read().await?.client().await?;
    let store = store(args.platform, args.store.as_deref(), &client).await?;
    let LoadedProxies { rows, .. } = db::proxies::load(&client, &env.config.secrets.keys()).await?;
    drop(client);
    let checker = Checker::new(&env.config, &store)?;
    let mut checks = Vec::new();
    for (group, rows) in groups(rows)? {
        for identity in [IdentityKind::Browser, IdentityKind::Own] {
            checks.push(checker.check(identity, &group, rows.first()).await?);
        }
    }
    let (platform, menu) = (args.platform, checker.query.referer.to_string());
    let report = Report { platform, menu, verdict: verdict(platform, &checks), checks };
    let headers = ["identity", "proxies", "proxy", "status", "class", "ms", "detail"];
    env.out.list(&report, &report.checks, &headers, cells)?;
    if !env.out.is_json() {
        env.out.line(&report.verdict)?;
    }
    Ok(if report.checks.iter().any(Check::works) { ExitCode::Ok } else { ExitCode::Failure })
}

async fn store(platform: Platform, named: Option<&str>, client: &Client) -> anyhow::Result<Store> {
    let Some(named) = named else {
        let none = || format!("there is no store of {platform} yet: name the URL of a menu with --store");
        return Ok(db::stores::first_of_platform(client, platform)
            .await?
            .ok_or_else(|| CliError::not_found(none()))?);
    };
    let Ok(id) = named.parse::<StoreId>() else { return Ok(at(platform, named)?) };
    match db::stores::get(client, id).await? {
        Some(store) if store.platform == platform => Ok(store),
        Some(store) => Err(CliError::usage(format!("store {id} is one of {}", store.platform)).into()),
        None => Err(CliError::not_found(format!("store {id} does not exist")).into()),
    }
}

/// The store with this menu URL, which need not be in the database.
fn at(platform: Platform, menu_url: &str) -> Result<Store, CliError> {
    let key = menu_key(platform, menu_url);
    let key = key.ok_or_else(|| CliError::usage(format!("{menu_url} is no address of a menu of {platform}")))?;
    Ok(Store {
        id: 0,
        name: menu_url.to_owned(),
        platform,
        slug: Some(key.clone()),
        platform_dispensary_id: Some(key),
        menu_url: Some(menu_url.to_owned()),
        api_host: None,
        api_path: None,
        state: None,
        timezone: None,
        crawl_enabled: true,
    })
}

/// Up to two groups of proxies at one host each, the largest first; of each those that are free, the longest unused first.
fn groups(rows: Vec<ProxyRow>) -> Result<Vec<(String, Vec<ProxyRow>)>, CliError> {
    let mut groups: BTreeMap<String, Vec<ProxyRow>> = BTreeMap::new();
    for row in rows.into_iter().filter(|row| row.stored == StoredState::Active) {
        groups.entry(row.proxy.host.clone()).or_default().push(row);
    }
    if groups.is_empty() {
        return Err(CliError::not_found("no proxy to ask through: add some with `drover proxies import FILE`"));
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, rows)| std::cmp::Reverse(rows.len()));
    groups.truncate(MAX_GROUPS);
    for (_, rows) in &mut groups {
        rows.retain(|row| row.idle.is_none_or(|idle| idle >= MIN_IDLE));
        rows.sort_by_key(|row| std::cmp::Reverse(row.idle.unwrap_or(Duration::MAX)));
    }
    Ok(groups)
}

/// Sends one question by one setting after the other.
struct Checker<'a> {
    config: &'a Config,
    identities: Identities,
    states: States,
    adapter: Arc<dyn Adapter>,
    query: Query,
    request: Request,
    ask: SessionAsk,
}

impl Checker<'_> {
    fn new<'a>(config: &'a Config, store: &Store) -> anyhow::Result<Checker<'a>> {
        let DataFiles { identities, states, .. } = DataFiles::load(config)?;
        let small = Config { platform: small_pages(config), ..config.clone() };
        let adapter = adapter(store.platform, &small)?;
        let query = adapter.menu_query(store)?;
        let request = visitor_request(adapter.as_ref(), &query);
        let none = || CliError::usage(format!("drover knows no question that {} answers", store.platform));
        let ask = SessionAsk { state: store.state.clone(), timezone: store.timezone.clone(), ..SessionAsk::default() };
        Ok(Checker { config, identities, states, query, request: request.ok_or_else(none)?, adapter, ask })
    }

    async fn check(&self, identity: IdentityKind, group: &str, proxy: Option<&ProxyRow>) -> anyhow::Result<Check> {
        let not_asked = |detail: &str| Check {
            identity: identity.name(),
            group: group.to_owned(),
            proxy: None,
            status: None,
            class: "not_asked",
            ms: None,
            detail: Some(detail.to_owned()),
        };
        if identity == IdentityKind::Own && self.config.http.own_contact.is_empty() {
            return Ok(not_asked("http.own_contact is not set"));
        }
        let Some(proxy) = proxy else { return Ok(not_asked("crawls use all of its proxies")) };
        let clock = Clock::system();
        let begun = clock.instant();
        let result = self.send(identity, proxy).await?;
        let took = clock.instant() - begun;
        let error = result.err();
        Ok(Check {
            proxy: Some(proxy.proxy.id),
            status: error.as_ref().map_or(Some(200), FetchError::status),
            class: error.as_ref().map_or("ok", class),
            ms: Some(took.as_millis() as u64),
            detail: error.map(|error| error.to_string()),
            ..not_asked("")
        })
    }

    async fn send(&self, identity: IdentityKind, proxy: &ProxyRow) -> anyhow::Result<Result<(), FetchError>> {
        let proxies = Arc::new(SingleUseProxies::new(std::slice::from_ref(proxy)));
        let hosts = AllowList::new(self.query.endpoint.host_str().map(str::to_owned));
        let data = (self.identities.clone(), self.states.clone());
        let mut session =
            single_tries(self.config, data, hosts, proxies)?.open(SessionAsk { identity, ..self.ask.clone() });
        let (adapter, query) = (Arc::clone(&self.adapter), self.query.clone());
        let sent = session.send(&self.request, move |response| adapter.read_menu(&query, response)).await;
        Ok(sent.map(drop))
    }
}

/// The platforms' settings with small pages.
fn small_pages(config: &Config) -> PerPlatform<settings::PlatformSettings> {
    PerPlatform::made(|platform| {
        let settings = config.platform.of(platform).clone();
        settings::PlatformSettings { per_page: settings.per_page.min(MAX_PER_PAGE), ..settings }
    })
}

/// The error as metrics name it; with a single proxy, no answer is no outage of all.
fn class(error: &FetchError) -> &'static str {
    match error {
        FetchError::ProxyOutage { .. } => "timeout",
        error => error.label(),
    }
}

impl Check {
    fn works(&self) -> bool {
        self.class == "ok"
    }
}

fn cells(check: &Check) -> Vec<String> {
    let number = |number: Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
    vec![
        check.identity.to_owned(),
        check.group.clone(),
        number(check.proxy.map(i64::cast_unsigned)),
        number(check.status.map(u64::from)),
        check.class.to_owned(),
        number(check.ms),
        check.detail.clone().unwrap_or_default(),
    ]
}

/// The first setting that works, which costs the least: of the larger group, and as a browser.
fn verdict(platform: Platform, checks: &[Check]) -> String {
    match checks.iter().find(|check| check.works()) {
        Some(Check { identity, group, .. }) => {
            format!("works: platform.{platform}.identity = \"{identity}\", through proxies at {group}")
        }
        None if checks.iter().all(|check| check.proxy.is_none()) => {
            format!("{platform} was not asked: run the command again when its proxies are free, or add proxies")
        }
        None => format!("no setting works for {platform}: it is not reachable through these proxies"),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    /// `class`: of a question that was sent.
    fn check(identity: &'static str, class: Option<&'static str>) -> Check {
        let (proxy, class) = (class.map(|_| 1), class.unwrap_or("not_asked"));
        Check { identity, group: "p.example".to_owned(), proxy, status: None, class, ms: None, detail: None }
    }

    #[rstest]
    #[case::the_first_that_works(&[("browser", Some("blocked")), ("own", Some("ok"))], "identity = \"own\"")]
    #[case::none_works(&[("browser", Some("blocked")), ("own", None)], "no setting works")]
    #[case::none_was_sent(&[("browser", None), ("own", None)], "was not asked")]
    fn the_verdict_names_what_was_found_out(
        #[case] checks: &[(&'static str, Option<&'static str>)],
        #[case] says: &str,
    ) {
        let checks: Vec<Check> = checks.iter().map(|(identity, class)| check(identity, *class)).collect();
        let verdict = verdict(Platform::DEFAULT, &checks);
        assert!(verdict.contains(says), "{verdict}");
    }
}
