//! `drover stores edit STORE`: corrects a store, such as the slug by which its platform id is looked up.

use crate::cli::{Env, ExitCode, StoreName, time};
use contract::stores::{ChangedStore, StoreChange};
use domain::store::Platform;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Id, slug or name of the store
    #[arg(allow_negative_numbers = true)]
    store: StoreName,
    #[command(flatten)]
    given: Given,
}

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = true)]
struct Given {
    /// Name of the store
    #[arg(long)]
    name: Option<String>,
    /// Platform to which the store moves, with its history; give its menu there by --menu-url, --slug or --platform-id
    #[arg(long)]
    platform: Option<Platform>,
    /// Last part of the menu's URL; an empty text removes it. A store that has a platform id is crawled by that id: if
    /// the store moved, give --platform-id '' too
    #[arg(long)]
    slug: Option<String>,
    /// URL of the menu, which is looked up instead of the slug; an empty text removes it. As with --slug, a platform id
    /// takes precedence
    #[arg(long, value_name = "URL")]
    menu_url: Option<String>,
    /// Id of the store at the platform; an empty text removes it, and it is looked up again
    #[arg(long = "platform-id", value_name = "ID")]
    platform_dispensary_id: Option<String>,
    /// City of the store; an empty text removes it
    #[arg(long)]
    city: Option<String>,
    /// State of the store, two letters such as AZ; an empty text removes it
    #[arg(long)]
    state: Option<String>,
    /// Time zone of the store, such as America/Phoenix; an empty text removes it, and the time zone of its state
    /// applies
    #[arg(long)]
    timezone: Option<String>,
}

pub async fn run(Args { store, given }: Args, env: &Env) -> anyhow::Result<ExitCode> {
    let change = StoreChange {
        crawl_enabled: None,
        name: given.name,
        platform: given.platform,
        slug: given.slug.map(Some),
        menu_url: given.menu_url.map(Some),
        platform_dispensary_id: given.platform_dispensary_id.map(Some),
        city: given.city.map(Some),
        state: given.state.map(Some),
        timezone: given.timezone.map(Some),
    };
    let api = env.api().await?.naming(&[("platform_dispensary_id", "--platform-id")]);
    let changed = api.put::<ChangedStore>(&format!("/api/stores/{}", store.id(&api).await?), &change).await?;
    env.out.either(&changed, text)?;
    Ok(ExitCode::Ok)
}

fn text(ChangedStore { store, notice }: &ChangedStore) -> String {
    let known = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    let place: Vec<&str> =
        [&store.city, &store.state, &store.timezone].into_iter().flatten().map(String::as_str).collect();
    let mut lines = vec![
        format!("store {}: {}", store.id, store.name),
        format!("platform: {}", store.platform),
        format!("slug: {}", known(&store.slug)),
        format!("menu URL: {}", known(&store.menu_url)),
        format!("platform id: {}", known(&store.platform_dispensary_id)),
        format!("place: {}", known(&Some(place.join(", ")).filter(|place| !place.is_empty()))),
    ];
    if let (Some(task), Some(at)) = (store.lookup_task_id, store.lookup_next_at) {
        lines.push(format!("the platform id is looked up by task {task}, due {}", time(at)));
    }
    lines.extend(notice.clone());
    lines.join("\n")
}
