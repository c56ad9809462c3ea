//! `Catalogue`: the stores of a simulated world, and the ones that only discovery finds.

use crate::captured::CapturedPage;
use crate::draw::{Draw, Topic};
use crate::places::{PLACES, Place, miles};
use crate::settings::{Goods, Settings};
use crate::words;

/// Index keys of decoys, far from the stores' keys.
const DECOY_KEYS: u64 = 1 << 32;
const CAPTURED_KEY: u64 = 1 << 33;

/// A store as an operator would import it, and the form of its menu.
#[derive(Clone, Debug, PartialEq)]
pub struct StoreSeed {
    pub platform_dispensary_id: String,
    pub name: String,
    /// Slug in `menu_url`, unless that names the id; a vanity slug differs from `cname`.
    pub slug: String,
    /// The platform's own name for it.
    pub cname: String,
    pub menu_url: String,
    /// Path of its shard; none = the platform's default.
    pub api_path: Option<String>,
    pub address: String,
    pub city: String,
    pub state: String,
    pub zip: String,
    pub timezone: String,
    pub phone: String,
    pub latitude: f64,
    pub longitude: f64,
    /// `open`, or `closed` for some decoys.
    pub status: &'static str,
    /// Whether the store serves the captured page, which the oracle does not know.
    pub captured: bool,
    pub(crate) index: u64,
    /// Number of products that it ever has, seen or not.
    pub(crate) size: u64,
    pub(crate) stock_system: StockSystem,
    pub(crate) goods: Goods,
}

/// System that keeps a store's stock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StockSystem {
    Pos,
    Manual,
    Mixed,
}

pub(crate) struct Catalogue {
    pub(crate) stores: Vec<StoreSeed>,
    pub(crate) decoys: Vec<StoreSeed>,
}

impl Catalogue {
    pub(crate) fn new(settings: &Settings, base_url: &str, captured: Option<&CapturedPage>) -> Catalogue {
        let mut stores: Vec<StoreSeed> =
            (0..settings.stores as u64).map(|index| store(settings, base_url, index)).collect();
        stores.extend(captured.map(|page| captured_store(settings, base_url, page)));
        Catalogue { stores, decoys: decoys(settings, base_url) }
    }

    /// Finds a store by id, slug or cName.
    pub(crate) fn named(&self, name: &str) -> Option<&StoreSeed> {
        self.all().find(|store| store.platform_dispensary_id == name || store.slug == name || store.cname == name)
    }

    /// The store that is to be crawled under that id.
    pub(crate) fn of_id(&self, id: &str) -> Option<&StoreSeed> {
        self.stores.iter().find(|store| store.platform_dispensary_id == id)
    }

    pub(crate) fn near(&self, point: (f64, f64), distance: f64) -> impl Iterator<Item = &StoreSeed> {
        self.all().filter(move |store| miles(point, (store.latitude, store.longitude)) <= distance)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &StoreSeed> {
        self.stores.iter().chain(&self.decoys)
    }
}

fn store(settings: &Settings, base_url: &str, index: u64) -> StoreSeed {
    let mut draw = Draw::of(settings.seed, Topic::Store, &[index]);
    let id = if index % 9 == 4 { draw.legacy_id() } else { draw.object_id() };
    let company = words::company(&mut draw);
    let place = draw.pick(PLACES);
    let name = format!("{company} {} {}", place.state, index + 1);
    let cname = words::slug(&name);
    let slug = if index % 5 == 3 { format!("{}-{index}", words::slug(&company)) } else { cname.clone() };
    let menu_url = match index % 8 {
        6 if id.len() == 24 => format!("{base_url}/embedded-menu/{id}.js"),
        _ => menu_url(base_url, index, &slug),
    };
    StoreSeed {
        platform_dispensary_id: id,
        menu_url,
        api_path: [None, None, None, Some("/api-1/graphql"), Some("/graphql")][(index % 5) as usize].map(str::to_owned),
        size: size(settings, index),
        stock_system: [StockSystem::Pos, StockSystem::Manual, StockSystem::Pos, StockSystem::Mixed]
            [(index % 4) as usize],
        goods: settings.goods,
        ..located((&mut draw, settings.spread), place, index, name, (slug, cname))
    }
}

fn located(
    (draw, spread): (&mut Draw, bool),
    place: &Place,
    index: u64,
    name: String,
    (slug, cname): (String, String),
) -> StoreSeed {
    let mut seed = StoreSeed {
        platform_dispensary_id: String::new(),
        name,
        slug,
        cname,
        menu_url: String::new(),
        api_path: None,
        address: format!("{} {} St", draw.between(1, 9999), words::company(draw)),
        city: words::city(draw),
        state: place.state.to_owned(),
        zip: format!("{:05}", place.zip + draw.below(80)),
        timezone: place.timezone.to_owned(),
        phone: format!("555-{:03}-{:04}", draw.below(1000), draw.below(10_000)),
        latitude: 0.0,
        longitude: 0.0,
        status: "open",
        captured: false,
        index,
        size: 0,
        stock_system: StockSystem::Manual,
        goods: Goods::Plain,
    };
    (seed.latitude, seed.longitude) = place.position(spread, (draw.unit(), draw.unit()));
    seed
}

/// Spread evenly over the range's skewed scale by the golden ratio, so that the sum hardly depends on the
/// seed.
fn size(settings: &Settings, index: u64) -> u64 {
    const SKEW: f64 = 3.9;
    const GOLDEN_RATIO: f64 = 0.618_033_988_749_895;
    let (low, high) = (*settings.products_per_store.start(), *settings.products_per_store.end());
    let offset = Draw::of(settings.seed, Topic::Size, &[]).unit();
    let spread = (offset + index as f64 * GOLDEN_RATIO).fract();
    low as u64 + (high.saturating_sub(low) as f64 * spread.powf(SKEW)).round() as u64
}

fn menu_url(base_url: &str, index: u64, slug: &str) -> String {
    match index % 4 {
        0 => format!("{base_url}/dispensary/{slug}"),
        1 => format!("{base_url}/embedded-menu/{slug}/menu?menuType=rec"),
        2 => format!("{base_url}/stores/{slug}/"),
        _ => format!("{base_url}/dispensary/{slug}/products/flower"),
    }
}

/// Stores near real ones that discovery must skip.
fn decoys(settings: &Settings, base_url: &str) -> Vec<StoreSeed> {
    let names =
        ["Sandbox Dispensary", "sbx - Mesa", "Demo Store", "TEST Garden", "DNU Old Harbor", "Shuttered Orchard"];
    let decoy = |(name, index): (&&str, u64)| {
        let mut draw = Draw::of(settings.seed, Topic::Store, &[DECOY_KEYS + index]);
        let (id, slug) = (draw.object_id(), words::slug(name));
        StoreSeed {
            platform_dispensary_id: id,
            menu_url: menu_url(base_url, 0, &slug),
            status: if *name == "Shuttered Orchard" { "closed" } else { "open" },
            ..located(
                (&mut draw, false),
                &PLACES[0],
                DECOY_KEYS + index,
                (*name).to_owned(),
                (slug.clone(), slug.clone()),
            )
        }
    };
    names.iter().zip(0..).map(decoy).collect()
}

fn captured_store(settings: &Settings, base_url: &str, page: &CapturedPage) -> StoreSeed {
    let mut draw = Draw::of(settings.seed, Topic::Store, &[CAPTURED_KEY]);
    let slug = "captured-page".to_owned();
    StoreSeed {
        platform_dispensary_id: page.dispensary_id.clone(),
        menu_url: menu_url(base_url, 0, &slug),
        captured: true,
        size: page.total_count as u64,
        ..located(
            (&mut draw, false),
            &PLACES[8],
            CAPTURED_KEY,
            "Captured Page".to_owned(),
            (slug.clone(), slug.clone()),
        )
    }
}
