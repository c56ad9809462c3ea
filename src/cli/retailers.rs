//! `drover retailers`: the shops that stores of several platforms are, and the proposals that a person decides.

mod licences;

use clap::Subcommand;
use serde_json::json;

use super::{Env, ExitCode, values, with_query};
use contract::retailers::{
    DecidedRetailer, Retailer, RetailerDecision, RetailerMatch, RetailerName, RetailerPage, RetailerProposal,
    RetailerProposalPage, RetailerStore,
};
use domain::amounts::counted;
use domain::retailer::RetailerId;
use domain::store::StoreId;

#[derive(Debug, Subcommand)]
pub enum Command {
    /// List retailers with their stores
    List {
        /// Only this state, such as AZ
        #[arg(long)]
        state: Option<String>,
        /// Only names with this text
        #[arg(long, value_name = "TEXT")]
        search: Option<String>,
        /// Maximum number of retailers
        #[arg(long, value_name = "N", default_value_t = 50, allow_negative_numbers = true, value_parser = values::number(1..=500_i64))]
        limit: i64,
    },
    /// Show a retailer and its stores
    Show {
        /// Id of the retailer
        id: RetailerId,
    },
    /// Rename a retailer
    Rename {
        /// Id of the retailer
        id: RetailerId,
        /// New name
        name: String,
    },
    /// List pairs of stores that may be one retailer, the strongest first, with the evidence
    Proposals {
        /// Maximum number of pairs
        #[arg(long, value_name = "N", default_value_t = 50, allow_negative_numbers = true, value_parser = values::number(1..=500_i64))]
        limit: i64,
    },
    /// Say that two stores are one retailer
    Join {
        /// Id of a store
        one: StoreId,
        /// Id of another store
        other: StoreId,
    },
    /// Say that two stores are not one retailer
    Refuse {
        /// Id of a store
        one: StoreId,
        /// Id of another store
        other: StoreId,
    },
    /// Take a store out of its retailer, and keep it out
    TakeOut {
        /// Id of the store
        store: StoreId,
    },
    /// Compare all stores now. Each refresh of the analytics does so, too
    Match,
    /// Import a state's register of licences, with which stores are compared
    Licences(licences::Args),
}

pub async fn run(command: Command, env: &Env) -> anyhow::Result<ExitCode> {
    match command {
        Command::List { state, search, limit } => list(env, state, search, limit).await?,
        Command::Show { id } => {
            let retailer: Retailer = env.api_to_read().await?.get(&format!("/api/retailers/{id}")).await?;
            env.out.either(&retailer, text_of)?;
        }
        Command::Rename { id, name } => {
            let path = format!("/api/retailers/{id}");
            let renamed: Retailer = env.api().await?.put(&path, &RetailerName { name }).await?;
            env.out.either(&renamed, text_of)?;
        }
        Command::Proposals { limit } => proposals(env, limit).await?,
        Command::Join { one, other } => decide(env, RetailerDecision { stores: [one, other], is_same: true }).await?,
        Command::Refuse { one, other } => {
            decide(env, RetailerDecision { stores: [one, other], is_same: false }).await?
        }
        Command::TakeOut { store } => {
            env.api().await?.delete(&format!("/api/stores/{store}/retailer")).await?;
            env.out.either(&json!({ "taken_out": store }), |_| format!("store {store} belongs to no retailer"))?;
        }
        Command::Match => {
            let matched: RetailerMatch = env.api().await?.post("/api/retailers/match", &json!({})).await?;
            env.out.either(&matched, matched_text)?;
        }
        Command::Licences(args) => return licences::run(args, env).await,
    }
    Ok(ExitCode::Ok)
}

async fn list(env: &Env, state: Option<String>, search: Option<String>, limit: i64) -> anyhow::Result<()> {
    let query = [("state", state), ("q", search), ("limit", Some(limit.to_string()))];
    let api = env.api_to_read().await?.naming(&[("q", "--search")]);
    let page: RetailerPage = api.get(&with_query("/api/retailers", query)).await?;
    env.out.list(&page, &page.retailers, &["id", "name", "state", "stores"], |retailer| {
        let stores: Vec<String> = retailer.stores.iter().map(short).collect();
        let state = retailer.state.clone().unwrap_or_default();
        vec![retailer.id.to_string(), retailer.name.clone(), state, stores.join(", ")]
    })?;
    env.out.note_of_more(page.next_cursor.is_some(), limit);
    env.out.note_of_none(&page.retailers, "no retailers to show: `drover retailers match` compares the stores");
    Ok(())
}

async fn proposals(env: &Env, limit: i64) -> anyhow::Result<()> {
    let path = format!("/api/retailer-proposals?limit={limit}");
    let page: RetailerProposalPage = env.api_to_read().await?.get(&path).await?;
    env.out.list(
        &page,
        &page.proposals,
        &["stores", "names", "evidence"],
        |RetailerProposal { stores, evidence, .. }| {
            let names: Vec<String> =
                stores.iter().map(|store| format!("{} ({})", store.name, store.platform)).collect();
            let ids: Vec<String> = stores.iter().map(|store| store.id.to_string()).collect();
            vec![ids.join(" "), names.join(" | "), evidence.join("; ")]
        },
    )?;
    env.out.note_of_more(page.next_cursor.is_some(), limit);
    env.out.note_of_none(&page.proposals, "no proposals to decide");
    if !page.proposals.is_empty() {
        env.out.note("decide one: `drover retailers join ID ID`, or `drover retailers refuse ID ID`");
    }
    Ok(())
}

async fn decide(env: &Env, decision: RetailerDecision) -> anyhow::Result<()> {
    let decided: DecidedRetailer = env.api().await?.post("/api/retailer-decisions", &decision).await?;
    let [one, other] = decision.stores;
    env.out.either(&decided, |decided| match &decided.retailer {
        Some(retailer) => text_of(retailer),
        None => format!("stores {one} and {other} stay apart"),
    })?;
    Ok(())
}

fn matched_text(&RetailerMatch { retailers, joined, proposals }: &RetailerMatch) -> String {
    let proposed = counted(proposals, "pair");
    format!("new retailers: {retailers}, stores joined: {joined}, to decide: {proposed} (drover retailers proposals)")
}

fn text_of(retailer: &Retailer) -> String {
    let mut lines = vec![format!("retailer {}: {}", retailer.id, retailer.name)];
    lines.extend(retailer.stores.iter().map(|store| {
        let place: Vec<&str> =
            [&store.address, &store.city, &store.state].into_iter().flatten().map(String::as_str).collect();
        format!("  store {}: {} ({}) {}", store.id, store.name, store.platform, place.join(", ")).trim_end().to_owned()
    }));
    lines.join("\n")
}

fn short(store: &RetailerStore) -> String {
    format!("{} {}", store.platform, store.id)
}
