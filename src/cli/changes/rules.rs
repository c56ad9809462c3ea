//! `drover changes rules`: of which changes an endpoint is notified.

use std::collections::HashMap;

use clap::Subcommand;
use serde_json::{Map, Value, json};

use super::filter::ChangeFilter;
use crate::cli::notifications::{endpoint_id, endpoints};
use crate::cli::store_name;
use crate::cli::values::Since;
use crate::cli::{ApiClient, CliError, Env, ExitCode, each, time, unit_price, values, with_query};
use contract::changes::RehearsalPage;
use contract::media::RecordPage;
use contract::media::change_rules::ChangeRule;
use domain::amounts::{counted, duration, money};
use domain::menu::changes::ChangeKind;
use domain::notification::Digest;
use foundation::clock::Clock;

const PATH: &str = "/api/media/change_rules";
/// Maximum number of rules among which a name is looked for.
const MAX_RULES: i64 = 500;

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Send these changes to an endpoint from now on. Example: changes rules add flower --kind price_drop --min-percent 10 --category flower
    /// --endpoint team
    Add(Box<Add>),
    /// Print the messages that a rule would have sent about changes of the past; nothing is sent
    Test {
        /// Name or id of the rule, as shown by `changes rules list`
        rule: String,
        /// Begin of the past: a span such as 7d, a time as in RFC 3339, or a day [default: 7d]
        #[arg(long, value_name = "TIME", value_parser = values::since_or_span)]
        since: Option<Since>,
    },
    /// List rules
    List,
    /// Stop rules for a time; changes of that time are not sent later
    Disable {
        /// Names or ids of rules
        #[arg(required = true)]
        rules: Vec<String>,
    },
    /// Let disabled rules continue with the next change
    Enable {
        /// Names or ids of rules
        #[arg(required = true)]
        rules: Vec<String>,
    },
    /// Remove rules
    Remove {
        /// Names or ids of rules
        #[arg(required = true)]
        rules: Vec<String>,
    },
}

#[derive(Debug, clap::Args)]
pub struct Add {
    /// Name of the rule, which its messages show
    name: String,
    /// Name or id of the endpoint, as shown by `media list endpoints`
    #[arg(long, value_name = "ENDPOINT")]
    endpoint: String,
    /// Kind of the changes (several: separated by commas): price_drop, price_rise, special_start, special_end, sold_out, restocked, low_stock, new,
    /// gone or returned
    #[arg(long, required = true, value_delimiter = ',', value_parser = values::word::<ChangeKind>)]
    kind: Vec<ChangeKind>,
    #[command(flatten)]
    only: ChangeFilter,
    /// Only the product with this id
    #[arg(long, value_name = "ID", value_parser = values::id)]
    product: Option<i64>,
    /// Only changes to this price or below, in dollars
    #[arg(long, value_name = "PRICE", value_parser = values::cents)]
    max_price: Option<i32>,
    /// Only changes to this price by gram or below, in dollars
    #[arg(long, value_name = "PRICE", value_parser = values::millicents)]
    max_per_gram: Option<i64>,
    /// Minimum time between two messages about one product, such as 6h
    #[arg(long, value_name = "TIME", value_parser = values::minutes)]
    quiet: Option<i32>,
    /// How often changes become a message: none (at once, one a crawl), hourly or daily
    #[arg(long, default_value_t, value_parser = values::word::<Digest>)]
    digest: Digest,
}

const HEADERS: [&str; 7] = ["id", "name", "endpoint", "kinds", "only", "digest", "state"];

pub async fn run(command: Command, env: &Env) -> anyhow::Result<ExitCode> {
    match command {
        Command::Add(args) => add(*args, env).await,
        Command::Test { rule, since } => test(&rule, since, env).await,
        Command::List => list(env).await,
        Command::Disable { rules } => switch(&rules, false, env).await,
        Command::Enable { rules } => switch(&rules, true, env).await,
        Command::Remove { rules } => remove(&rules, env).await,
    }
}

async fn add(args: Add, env: &Env) -> anyhow::Result<ExitCode> {
    let names = &[
        ("group_name", "--group"),
        ("min_cents", "--min-change"),
        ("max_unit_price", "--max-per-gram"),
        ("quiet_minutes", "--quiet"),
        ("kinds", "--kind"),
    ];
    let api = env.api().await?.naming(names);
    let ChangeFilter { store, group, state, brand, category, min_percent, min_change } = args.only;
    let rule = json!({
        "name": args.name,
        "endpoint_id": endpoint_id(&api, &args.endpoint).await?,
        "kinds": args.kind,
        "store_id": store_name::id_of(store.as_ref(), &api).await?,
        "group_name": group,
        "state": state.map(|state| state.to_ascii_uppercase()),
        "brand": brand,
        "category": category,
        "product_id": args.product,
        "min_percent": min_percent,
        "min_cents": min_change,
        "max_price": args.max_price,
        "max_unit_price": args.max_per_gram,
        "quiet_minutes": args.quiet.unwrap_or_default(),
        "digest": args.digest,
    });
    let rule: ChangeRule = api.post(PATH, &rule).await?;
    let name = &rule.name;
    let text =
        format!("rule {name} is added; `drover changes rules test {name}` shows what it would have sent last week");
    env.out.either(&rule, |_| text)?;
    Ok(ExitCode::Ok)
}

async fn test(name: &str, since: Option<Since>, env: &Env) -> anyhow::Result<ExitCode> {
    let api = env.api_to_read().await?;
    let id = rule_id(&api, name).await?;
    let query = [("from", since.map(|since| since.beginning(Clock::system().utc()).to_rfc3339()))];
    let page: RehearsalPage = api.get(&with_query(&format!("{PATH}/{id}/messages"), query)).await?;
    if env.out.is_json() {
        env.out.value(&page)?;
        return Ok(ExitCode::Ok);
    }
    for message in &page.messages {
        let at = message.changes.first().map(|change| time(change.crawled_at)).unwrap_or_default();
        env.out.line(format_args!("{at}  {}", counted(message.count as u64, "change")))?;
        for change in &message.changes {
            env.out.line(format_args!("  {} · {}", change.text, change.store))?;
        }
    }
    env.out.note_of_none(&page.messages, "the rule would have sent nothing");
    if page.is_cut {
        env.out.note("there would have been more messages; a later --since shows the latest ones");
    }
    Ok(ExitCode::Ok)
}

async fn list(env: &Env) -> anyhow::Result<ExitCode> {
    let api = env.api_to_read().await?;
    let page = all(&api).await?;
    let names: HashMap<i64, String> = match page.records.is_empty() {
        true => HashMap::new(),
        false => endpoints(&api).await?.into_iter().map(|endpoint| (endpoint.id, endpoint.name)).collect(),
    };
    env.out.list(&page, &page.records, &HEADERS, |rule| cells(rule, &names))?;
    env.out.note_of_none(&page.records, "no rules to show: add one with `drover changes rules add`");
    env.out.note_of_more(page.next_cursor.is_some(), MAX_RULES);
    Ok(ExitCode::Ok)
}

async fn switch(names: &[String], enabled: bool, env: &Env) -> anyhow::Result<ExitCode> {
    let api = env.api().await?;
    let ids = rule_ids(&api, names).await?;
    let switch = async |api: &ApiClient, id| {
        let rule: Map<String, Value> = api.put(&format!("{PATH}/{id}"), &json!({ "enabled": enabled })).await?;
        Ok(Value::Object(rule))
    };
    let state = if enabled { "enabled" } else { "disabled" };
    each(&ids, env, switch, |rule| format!("rule {} is {state}", rule["name"].as_str().unwrap_or_default())).await
}

async fn remove(names: &[String], env: &Env) -> anyhow::Result<ExitCode> {
    let api = env.api().await?;
    let ids = rule_ids(&api, names).await?;
    let remove = async |api: &ApiClient, id| {
        api.delete(&format!("{PATH}/{id}")).await?;
        Ok(json!({ "removed": id }))
    };
    each(&ids, env, remove, |answer| format!("rule {} is removed", answer["removed"])).await
}

async fn all(api: &ApiClient) -> anyhow::Result<RecordPage<ChangeRule>> {
    Ok(api.get(&with_query(PATH, [("limit", Some(MAX_RULES))])).await?)
}

async fn rule_ids(api: &ApiClient, names: &[String]) -> anyhow::Result<Vec<i64>> {
    let mut ids = Vec::new();
    for name in names {
        ids.push(rule_id(api, name).await?);
    }
    Ok(ids)
}

/// A name comes before an id: a rule may be named `7`.
async fn rule_id(api: &ApiClient, name: &str) -> anyhow::Result<i64> {
    let named = all(api).await?.records.into_iter().find(|rule| rule.name == name);
    let id = named.map(|rule| rule.id).or_else(|| name.parse().ok());
    let unknown = || CliError::usage(format!("no rule is named '{name}': `drover changes rules list` shows them"));
    Ok(id.ok_or_else(unknown)?)
}

/// `endpoints`: their names.
fn cells(rule: &ChangeRule, endpoints: &HashMap<i64, String>) -> Vec<String> {
    let kinds: Vec<String> = rule.kinds.iter().map(ToString::to_string).collect();
    let state = if rule.enabled { "enabled" } else { "disabled" };
    vec![
        rule.id.to_string(),
        rule.name.clone(),
        endpoints.get(&rule.endpoint_id).cloned().unwrap_or_else(|| rule.endpoint_id.to_string()),
        kinds.join(", "),
        filters(rule).join(", "),
        rule.digest.to_string(),
        state.to_owned(),
    ]
}

/// The filters of a rule, such as `state AZ`, `from 10 %`.
fn filters(rule: &ChangeRule) -> Vec<String> {
    let named = |name: &str, value: Option<String>| value.map(|value| format!("{name} {value}"));
    let quiet = (rule.quiet_minutes > 0).then(|| duration(f64::from(rule.quiet_minutes) * 60.0));
    let filters = [
        named("store", rule.store_id.map(|id| id.to_string())),
        named("group", rule.group_name.clone()),
        named("state", rule.state.clone()),
        named("brand", rule.brand.clone()),
        named("category", rule.category.clone()),
        named("product", rule.product_id.map(|id| id.to_string())),
        rule.min_percent.map(|percent| format!("from {percent} %")),
        named("from", rule.min_cents.map(money)),
        named("price to", rule.max_price.map(money)),
        named("price by gram to", rule.max_unit_price.and_then(unit_price::dollars)),
        named("quiet for", quiet),
    ];
    filters.into_iter().flatten().collect()
}
