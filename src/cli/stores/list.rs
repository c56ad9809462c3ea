//! `drover stores list`.

use crate::cli::{Env, ExitCode, groups, time, values, with_query};
use contract::stores::{StorePage, StoreSort, StoreView};
use domain::store;
use domain::store::{EMPTY_MENUS, Platform, StoreStatus};

/// Number of stores per request.
const PAGE: &str = "500";

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only stores of this group
    #[arg(long, value_parser = store::group::name)]
    group: Option<String>,
    /// Only stores in this state, such as AZ
    #[arg(long)]
    state: Option<String>,
    /// Only stores of this platform
    #[arg(long)]
    platform: Option<Platform>,
    /// Only enabled stores, or with `false` only disabled stores
    #[arg(long, value_name = "true|false")]
    crawled: Option<bool>,
    /// Only stores whose crawls are in this state, such as needs_menu_id
    #[arg(long, value_parser = values::word::<StoreStatus>)]
    status: Option<StoreStatus>,
    /// Only stores with this id, this beginning of a slug, or this text in their name or city
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
    /// Order of the list, such as trouble or last_complete [default: id]
    #[arg(long, value_name = "ORDER", value_parser = values::word::<StoreSort>)]
    sort: Option<StoreSort>,
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    let list = all(&args, env).await?;
    if let Some(group) = args.group.as_deref().filter(|_| list.stores.is_empty()) {
        groups::warn_if_empty(&env.api_to_read().await?, group).await?;
    }
    let headers =
        ["id", "name", "state", "platform", "platform id", "groups", "crawl", "products", "in stock", "last crawl"];
    env.out.list(&list, &list.stores, &headers, cells)?;
    env.out.note_of_none(
        &list.stores,
        "no stores to show: add stores with `drover stores import FILE` or `drover stores add`",
    );
    Ok(ExitCode::Ok)
}

/// All pages in one.
async fn all(args: &Args, env: &Env) -> anyhow::Result<StorePage> {
    let api = env.api_to_read().await?.naming(&[]);
    let mut list = StorePage { stores: Vec::new(), total: 0, next_cursor: None };
    loop {
        let query = [
            ("group", args.group.clone()),
            ("state", args.state.clone()),
            ("platform", args.platform.map(|platform| platform.to_string())),
            ("crawl_enabled", args.crawled.map(|is_on| is_on.to_string())),
            ("crawl_status", args.status.map(|status| status.to_string())),
            ("q", args.search.clone()),
            ("sort", args.sort.map(|sort| sort.to_string())),
            ("limit", Some(PAGE.to_owned())),
            ("cursor", list.next_cursor.take()),
        ];
        let page: StorePage = api.get(&with_query("/api/stores", query)).await?;
        list.stores.extend(page.stores);
        list.total = page.total;
        list.next_cursor = page.next_cursor;
        if list.next_cursor.is_none() {
            return Ok(list);
        }
    }
}

fn cells(store: &StoreView) -> Vec<String> {
    let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    vec![
        store.id.to_string(),
        store.name.clone(),
        or_dash(&store.state),
        store.platform.to_string(),
        or_dash(&store.platform_dispensary_id),
        store.groups.join(" "),
        crawl(store),
        store.products.to_string(),
        store.in_stock.to_string(),
        or_dash(&store.last_crawl_at.map(time)),
    ]
}

/// The state of its crawls, and how many empty menus it is away from `empty_menu`.
fn crawl(store: &StoreView) -> String {
    match store.empty_menus {
        _ if !store.crawl_enabled => "off".to_owned(),
        menus @ 1..EMPTY_MENUS => format!("{}, {menus} of {EMPTY_MENUS} menus empty", store.crawl_status),
        _ => store.crawl_status.to_string(),
    }
}
