//! `drover payload list`.

use chrono::{DateTime, Utc};

use crate::cli::store_name::{self, StoreName};
use crate::cli::{Env, ExitCode, time, values, with_query};
use contract::payloads::{PayloadPage, PayloadView};
use domain::store::Platform;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only payloads of the store with this id, slug or name
    #[arg(long, value_name = "STORE", allow_negative_numbers = true)]
    store: Option<StoreName>,
    /// Only payloads of this platform
    #[arg(long)]
    platform: Option<Platform>,
    /// Only payloads fetched from this day (UTC) or time on
    #[arg(long, value_name = "DAY|TIME", value_parser = values::since)]
    since: Option<DateTime<Utc>>,
    /// Only payloads fetched up to the end of this day (UTC), or before this time
    #[arg(long, value_name = "DAY|TIME", value_parser = values::until)]
    until: Option<DateTime<Utc>>,
    /// Maximum number of payloads
    #[arg(long, value_name = "N", default_value_t = 50, allow_negative_numbers = true, value_parser = values::number(1..=500_i64))]
    limit: i64,
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    let api = env.api_to_read().await?;
    let store = store_name::id_of(args.store.as_ref(), &api).await?;
    let query = [
        ("dispensary_id", store.map(|id| id.to_string())),
        ("platform", args.platform.map(|platform| platform.to_string())),
        ("from", args.since.map(|from| from.to_rfc3339())),
        ("to", args.until.map(|to| to.to_rfc3339())),
        ("limit", Some(args.limit.to_string())),
    ];
    let page: PayloadPage = api.get(&with_query("/api/payloads", query)).await?;
    let headers = ["id", "store", "platform", "fetched", "products", "of", "bytes", "task"];
    env.out.list(&page, &page.payloads, &headers, cells)?;
    env.out.note_of_none(
        &page.payloads,
        "no payloads to show: each crawl of a store keeps one; `drover tasks generate` creates crawls",
    );
    env.out.note_of_more(page.next_cursor.is_some(), args.limit);
    Ok(ExitCode::Ok)
}

fn cells(payload: &PayloadView) -> Vec<String> {
    let name = payload.dispensary_name.clone().unwrap_or_default();
    vec![
        payload.id.to_string(),
        format!("{} {name}", payload.dispensary_id),
        payload.platform.to_string(),
        time(payload.fetched_at),
        payload.product_count.to_string(),
        payload.total_count.to_string(),
        payload.bytes.to_string(),
        payload.task_id.map_or_else(|| "-".to_owned(), |id| id.to_string()),
    ]
}
