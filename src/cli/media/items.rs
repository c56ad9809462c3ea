//! `drover media items`: the items that media jobs found, with their files.

use super::super::{Env, ExitCode, bytes, time, values, with_query};
use contract::age_sort::AgeSort;
use contract::media::items::{ItemPage, ItemView};
use domain::media::item::ItemState;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only items of this source, such as youtube
    #[arg(long)]
    source: Option<String>,
    /// Only items in this state: known, downloaded, gone, refused or failed
    #[arg(long, value_parser = values::word::<ItemState>)]
    state: Option<ItemState>,
    /// Only items of the account with this id, as `drover media list accounts` shows it
    #[arg(long, value_name = "ID", allow_negative_numbers = true, value_parser = values::id)]
    account: Option<i64>,
    /// Order: newest or oldest first
    #[arg(long, default_value_t, value_parser = values::word::<AgeSort>)]
    sort: AgeSort,
    /// Maximum number of items
    #[arg(long, value_name = "N", default_value_t = 50, allow_negative_numbers = true, value_parser = values::number(1..=500_i64))]
    limit: i64,
}

const HEADERS: [&str; 8] = ["id", "source", "item", "title", "state", "size", "posted", "file or reason"];

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    let query = [
        ("source", args.source),
        ("state", args.state.map(|state| state.to_string())),
        ("account_id", args.account.map(|id| id.to_string())),
        ("sort", Some(args.sort.to_string())),
        ("limit", Some(args.limit.to_string())),
    ];
    let api = env.api_to_read().await?.naming(&[("account_id", "--account")]);
    let page: ItemPage = api.get(&with_query("/api/media/items", query)).await?;
    env.out.list(&page, &page.items, &HEADERS, cells)?;
    env.out.note_of_none(&page.items, "no items to show: `drover media list channels` shows what is watched");
    env.out.note_of_more(page.next_cursor.is_some(), args.limit);
    Ok(ExitCode::Ok)
}

fn cells(item: &ItemView) -> Vec<String> {
    let or_dash = |text: Option<&String>| text.cloned().unwrap_or_else(|| "-".to_owned());
    vec![
        item.id.to_string(),
        item.source.clone(),
        item.source_id.clone(),
        or_dash(item.title.as_ref()),
        item.state.to_string(),
        item.bytes.map_or_else(|| "-".to_owned(), bytes),
        item.posted_at.map_or_else(|| "-".to_owned(), time),
        or_dash(item.path.as_ref().or(item.last_error.as_ref())),
    ]
}
