//! The simulator's values as drover's: its platforms, stores and proxies as an operator sets them up, and the oracle's
//! products as the tables must hold them. For the demo, tests and benches.

use domain::store::{NewStore, Platform};
use settings::Config;
use sim::{
    OracleChange, OraclePotency, OracleProduct, OracleSide, OracleUnitPrices, OracleVariant, ProxyAddress, Simulator,
    StoreSeed,
};

use db::demo::report::changes::ChangeRecord;
use db::demo::report::products::{Offer, PotencyRecord, ProductRecord};
use db::demo::report::unit_prices::UnitPriceRecord;
use domain::menu::bundle::StoredBundle;
use domain::menu::changes::{ChangeKind, ChangeSide};
use domain::menu::product::Variant;
use domain::menu::unit_price::StoredUnitPrices;
use domain::proxy::{ProxyEntry, ProxyProtocol};
use domain::vocabulary::{self, Word};

/// Contact of a client that asks under its own name.
const CONTACT: &str = "https://example.com/crawler";

/// Points every platform at the simulator, as an operator sets one up, with its key and its contact.
pub fn point_at(sim: &Simulator, config: &mut Config) {
    let pictures = sim.pictures_url().trim_start_matches("http://");
    for (platform, settings) in config.platform.iter_mut() {
        settings.enabled = true;
        let sites = [&mut settings.base_url, &mut settings.stores_url, &mut settings.page_url];
        for site in sites.into_iter().filter(|site| !site.is_empty()) {
            *site = sim.base_url().to_owned();
        }
        settings.image_hosts = vec![pictures.to_owned()];
        if let Some(key) = sim.key_of(platform) {
            settings.key = key.as_str().into();
        }
    }
    config.http.own_contact = CONTACT.to_owned();
}

pub fn proxy(address: ProxyAddress) -> ProxyEntry {
    ProxyEntry {
        protocol: match address.protocol {
            sim::ProxyProtocol::Http => ProxyProtocol::Http,
            sim::ProxyProtocol::Https => ProxyProtocol::Https,
            sim::ProxyProtocol::Socks5 => ProxyProtocol::Socks5,
        },
        host: address.host,
        port: address.port,
        username: address.username,
        password: address.password,
        state_code: None,
        timezone: None,
    }
}

pub fn store(platform: Platform, seed: &StoreSeed) -> NewStore {
    NewStore {
        name: seed.name.clone(),
        platform,
        platform_dispensary_id: Some(seed.platform_dispensary_id.clone()),
        slug: Some(seed.slug.clone()),
        menu_url: Some(seed.menu_url.clone()),
        api_host: None,
        api_path: seed.api_path.clone(),
        city: Some(seed.city.clone()),
        state: Some(seed.state.clone()),
        timezone: Some(seed.timezone.clone()),
        groups: Vec::new(),
    }
}

/// The rows of a product of the store with this platform id; its variants by label, then by number.
pub fn product_record(platform_dispensary_id: &str, truth: &OracleProduct) -> ProductRecord {
    let mut variants: Vec<Variant> = truth.variants.iter().map(variant).collect();
    variants.sort_by(|one, other| (&one.option_label, one.nth).cmp(&(&other.option_label, other.nth)));
    ProductRecord {
        platform_dispensary_id: platform_dispensary_id.to_owned(),
        provider_product_id: truth.provider_product_id.clone(),
        name: truth.name.clone(),
        brand: truth.brand.clone(),
        category: truth.category.map(str::to_owned),
        subcategory: truth.subcategory.map(str::to_owned),
        strain_type: truth.strain_type.map(str::to_owned),
        image_url: truth.image_url.clone(),
        consecutive_misses: truth.consecutive_misses,
        offer: offer(truth),
        variants,
        snapshot: truth.is_present.then(|| offer(truth)),
    }
}

/// The row of a change.
pub fn change_record(truth: &OracleChange) -> ChangeRecord {
    ChangeRecord {
        platform_dispensary_id: truth.platform_dispensary_id.clone(),
        provider_product_id: truth.provider_product_id.clone(),
        option: truth.option.map(|(label, nth)| (label.to_owned(), nth)),
        kind: Word::<ChangeKind>::from(truth.kind.to_owned()),
        old: side(truth.old),
        new: side(truth.new),
        cents: truth.cents,
        percent: truth.hundredths.map(|hundredths| hundredths as f64 / 100.0),
    }
}

/// The row of an option's prices by unit.
pub fn unit_price_record(truth: &OracleUnitPrices) -> UnitPriceRecord {
    let ([rec_per_g, med_per_g], [rec_per_ml, med_per_ml]) = (truth.per_g, truth.per_ml);
    let [rec_per_mg_thc, med_per_mg_thc] = truth.per_mg_thc;
    UnitPriceRecord {
        platform_dispensary_id: truth.platform_dispensary_id.clone(),
        provider_product_id: truth.provider_product_id.clone(),
        option_label: truth.label.to_owned(),
        nth: truth.nth,
        prices: StoredUnitPrices {
            rec_per_g,
            med_per_g,
            rec_per_ml,
            med_per_ml,
            rec_per_mg_thc,
            med_per_mg_thc,
            thc_mg: truth.thc_mg,
            unit_basis: truth.basis.and_then(vocabulary::find),
            no_unit_price: truth.no_unit_price.and_then(vocabulary::find),
            no_thc_price: truth.no_thc_price.and_then(vocabulary::find),
            bundle: StoredBundle {
                bundle_quantity: truth.bundle_quantity,
                bundle_total: truth.bundle_total,
                bundle_per_g: truth.bundle_per_g,
            },
        },
    }
}

/// None where the side says nothing.
fn side(truth: OracleSide) -> Option<ChangeSide> {
    let side = ChangeSide {
        rec: truth.rec,
        med: truth.med,
        special_rec: truth.special_rec,
        special_med: truth.special_med,
        quantity: truth.quantity,
        quantity_censored: truth.quantity_censored,
    };
    (side != ChangeSide::default()).then_some(side)
}

fn offer(truth: &OracleProduct) -> Offer {
    Offer {
        price_rec: truth.price_rec,
        price_med: truth.price_med,
        special_price_rec: truth.special_price_rec,
        special_price_med: truth.special_price_med,
        is_on_special: truth.is_on_special,
        thc: potency(truth.thc),
        cbd: potency(truth.cbd),
        quantity: truth.quantity,
        quantity_censored: truth.quantity_censored,
        is_in_stock: truth.is_in_stock,
        stock_status: truth.stock_status.to_owned(),
    }
}

fn potency(truth: OraclePotency) -> PotencyRecord {
    PotencyRecord { min: truth.min, max: truth.max, unit: truth.unit.map(str::to_owned) }
}

fn variant(truth: &OracleVariant) -> Variant {
    Variant {
        option_label: truth.label.to_owned(),
        nth: truth.nth,
        size_mg: truth.size_mg,
        size_ml: truth.size_ml,
        price_rec: truth.price_rec,
        price_med: truth.price_med,
        special_price_rec: truth.special_price_rec,
        special_price_med: truth.special_price_med,
        quantity: truth.quantity,
        quantity_censored: truth.quantity_censored,
        is_in_stock: truth.is_in_stock,
    }
}
