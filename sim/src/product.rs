//! `Product`: the truth about one product of one store as of one crawl.
//!
//! Both sides are made from it: `wire` writes it as upstream does, `oracle` computes the expected content of
//! a product table. Depends on (seed, store, product, crawl) only.

use crate::brand::{Brand, Brands, Naming};
use crate::catalogue::{StockSystem, StoreSeed};
use crate::category::{CATEGORIES, Category, Measure, Potency};
use crate::deal::{self, Deal, WrittenDeal};
use crate::draw::{Draw, Topic};
use crate::money::Mills;
use crate::picture::Picture;
use crate::pictures::PictureHost;
use crate::potency::{self, Content};
use crate::settings::Goods;
use crate::size::NamedSize;
use crate::{menu, odd, words};

/// 2026-01-01T00:00:00Z: the simulated world's first crawl.
const EPOCH_MS: u64 = 1_767_225_600_000;
const DAY_MS: u64 = 86_400_000;
const SALES_PER_STORE: u64 = 6;
/// Neighbours on the menu are often of one maker: products whose ranks share this stretch are.
const RANKS_PER_MAKER: u32 = 64;
const CBD_STRENGTH: f64 = 0.155;

const STRAIN_TYPES: &[Option<&str>] = &[
    Some("Indica"),
    Some("Sativa"),
    Some("Hybrid"),
    Some("Hybrid"),
    Some("N/A"),
    Some("Indica-Hybrid"),
    Some("Sativa-Hybrid"),
    Some("High CBD"),
    Some("THC"),
    Some("1 to 1"),
    None,
];

pub(crate) struct Product<'a> {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) brand: &'a Brand,
    pub(crate) naming: Naming,
    pub(crate) category: &'static Category,
    /// May be "".
    pub(crate) subcategory: Option<&'static str>,
    /// May be "N/A".
    pub(crate) strain_type: Option<&'static str>,
    pub(crate) picture: Picture,
    pub(crate) active: bool,
    /// Never empty.
    pub(crate) offers: Vec<Offer>,
    /// False: `recPrices` is empty and only `Prices` has the numbers.
    pub(crate) lists_rec_prices: bool,
    pub(crate) lists_med_prices: bool,
    pub(crate) sale: Sale,
    pub(crate) stock: Stock,
    /// Its net weight is stated for every option.
    pub(crate) weighed: bool,
    /// Strength in its category's unit.
    pub(crate) strength: f64,
    pub(crate) thc: Content,
    pub(crate) cbd: Content,
    pub(crate) created_ms: u64,
    pub(crate) updated_ms: u64,
    /// The size that its name states.
    pub(crate) named_size: NamedSize,
    /// The deal of odd goods, in words.
    pub(crate) written_deal: Option<&'static WrittenDeal>,
    /// The deal that the store means.
    pub(crate) deal: Option<Deal>,
    /// Numbers for how its sale is described: a store has few sales, of many products each.
    pub(crate) special_look: Draw,
    /// Numbers for fields that only the wire shows.
    pub(crate) look: Draw,
}

/// One option of a product.
#[derive(Clone, Debug)]
pub(crate) struct Offer {
    pub(crate) label: &'static str,
    pub(crate) rec: Price,
    pub(crate) med: Price,
    /// Units in stock, before any cap.
    pub(crate) units: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Price {
    pub(crate) regular: Mills,
    pub(crate) special: Special,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Special {
    None,
    /// Listed, but no bargain: must be ignored.
    NotLower(Mills),
    Lower(Mills),
}

/// The product's sale in this crawl.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sale {
    None,
    /// Special prices are listed.
    Priced,
    /// Buy some, get some: no special prices.
    Bogo,
    /// Both, of odd goods.
    PricedBogo,
}

/// Place where upstream keeps the product's stock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stock {
    Pos,
    Manual,
    Unknown,
}

impl<'a> Product<'a> {
    pub(crate) fn of(
        seed: u64,
        (brands, pictures): (&'a Brands, &PictureHost),
        store: &StoreSeed,
        index: u64,
        crawl: u32,
    ) -> Product<'a> {
        let keys = [store.index, index];
        let mut draw = Draw::of(seed, Topic::Product, &keys);
        let id = if draw.percent(6) { draw.legacy_id() } else { draw.object_id() };
        let mut odd = Draw::of(seed, Topic::Odd, &keys);
        let is_odd = store.goods == Goods::Odd;
        let category = draw.pick(if is_odd { odd::CATEGORIES } else { CATEGORIES });
        let stock = stock_source(&mut draw, store.stock_system);
        let naming = Naming::draw(&mut draw, stock == Stock::Pos);
        let named_size = odd::named_size(&mut odd, category);
        let name = name(&mut draw, category) + named_size.text;
        // an inactive product of unknown stock has never been seen upstream
        let active = stock == Stock::Unknown || !draw.percent(3);
        let (lists_rec_prices, lists_med_prices) = (!draw.percent(4), !draw.percent(15));
        let created_ms = EPOCH_MS - draw.between(1, 700) * DAY_MS;
        let goods = goods(&mut draw, category);
        let (price_epoch, stock_epoch) = (epoch(&mut draw, crawl, 9), epoch(&mut draw, crawl, 5));
        let price_epoch = if is_odd { odd::price_epoch(&mut odd, crawl, price_epoch) } else { price_epoch };

        let mut price_draw = Draw::of(seed, Topic::Price, &[store.index, index, price_epoch]);
        let special_look = Draw::of(seed, Topic::Special, &[store.index, price_draw.below(SALES_PER_STORE)]);
        let (sale, priced) = priced(&mut price_draw, goods, store.goods);
        let written_deal = (is_odd && sale.is_bogo()).then(|| odd.pick(deal::WRITTEN));
        let deal = match written_deal {
            Some(written) => written.meant,
            None => (sale == Sale::Bogo).then(|| deal::plain_meant(special_look.clone())),
        };
        let mut batch = Draw::of(seed, Topic::Stock, &[store.index, index, stock_epoch]);
        let offers = offers(&mut batch, stock, priced);
        let strength = potency::strength(&mut batch, category);
        let (thc, cbd) =
            (Content::draw(&mut batch, category, strength), Content::draw(&mut batch, category, CBD_STRENGTH));

        let mut look = Draw::of(seed, Topic::Look, &keys);
        let (subcategory, strain_type) = (*look.pick(category.subcategories), *look.pick(STRAIN_TYPES));
        let picture = Picture::draw(&mut look, pictures);
        let weighed = match store.goods {
            Goods::Plain => category.potency == Potency::Percentage && look.percent(60),
            Goods::Odd => category.measure != Measure::Nothing && look.percent(30),
        };
        Product {
            id,
            name,
            brand: maker(seed, brands, store, index),
            naming,
            category,
            subcategory,
            strain_type,
            picture,
            active,
            offers,
            lists_rec_prices,
            lists_med_prices,
            sale,
            stock,
            weighed,
            strength,
            thc,
            cbd,
            created_ms,
            updated_ms: EPOCH_MS + (price_epoch + stock_epoch) * DAY_MS / 4,
            named_size,
            written_deal,
            deal,
            special_look,
            look,
        }
    }

    /// The brand's name, where the product has it.
    pub(crate) fn brand_name(&self) -> Option<&str> {
        (self.naming != Naming::Nameless).then_some(self.brand.name.as_str())
    }

    /// The brand's logo, where the product has its name.
    pub(crate) fn logo(&self) -> Option<&str> {
        self.brand.image_url.as_deref().filter(|_| self.naming != Naming::Nameless)
    }

    /// Its strain type, unless that is a word for none.
    pub(crate) fn lineage(&self) -> Option<&'static str> {
        self.strain_type.filter(|strain| *strain != "N/A")
    }

    /// The same product as an earlier page may still show it when pages overlap: dearer by a dollar.
    pub(crate) fn superseded(self) -> Self {
        self.dearer_by_a_dollar()
    }

    /// The same product a day later, dearer by a dollar.
    pub(crate) fn repriced(mut self) -> Self {
        self.updated_ms += DAY_MS;
        self.dearer_by_a_dollar()
    }

    fn dearer_by_a_dollar(mut self) -> Self {
        for price in self.offers.iter_mut().flat_map(|offer| [&mut offer.rec, &mut offer.med]) {
            price.regular.0 += 1000;
            if let Special::NotLower(special) = &mut price.special {
                special.0 += 1000;
            }
        }
        self
    }
}

impl Sale {
    fn draw(draw: &mut Draw) -> Sale {
        match draw.below(100) {
            0..66 => Sale::None,
            66..94 => Sale::Priced,
            _ => Sale::Bogo,
        }
    }

    fn draw_of_odd(draw: &mut Draw) -> Sale {
        match draw.below(100) {
            0..30 => Sale::None,
            30..45 => Sale::Priced,
            45..80 => Sale::Bogo,
            _ => Sale::PricedBogo,
        }
    }

    pub(crate) fn is_bogo(self) -> bool {
        matches!(self, Sale::Bogo | Sale::PricedBogo)
    }

    pub(crate) fn is_priced(self) -> bool {
        matches!(self, Sale::Priced | Sale::PricedBogo)
    }
}

/// The options a product comes in, with their base prices in cents.
fn goods(draw: &mut Draw, category: &'static Category) -> Vec<(&'static str, u32)> {
    let base = draw.between(category.cents.0, category.cents.1) as u32;
    draw.pick(category.options).iter().zip(1..).map(|(label, nth)| (*label, base * nth)).collect()
}

/// The options that an epoch of prices has, each with its price for everyone and for patients. One of several
/// may be gone.
fn priced(
    draw: &mut Draw,
    mut goods: Vec<(&'static str, u32)>,
    kind: Goods,
) -> (Sale, Vec<(&'static str, Price, Price)>) {
    if goods.len() > 1 && draw.percent(30) {
        goods.remove(draw.below(goods.len() as u64) as usize);
    }
    let swing = draw.between(80, 120) as u32;
    let half_cent = draw.percent(5);
    let cheaper_for_patients = draw.percent(25);
    let sale = match kind {
        Goods::Plain => Sale::draw(draw),
        Goods::Odd => Sale::draw_of_odd(draw),
    };
    let mut price = |(label, base): (&'static str, u32)| {
        // 80 … 120 % of the base, to the quarter dollar
        let cents = (base * swing / 100 / 25).max(4) * 25;
        let rec = Mills(cents * 10 + if half_cent { 5 } else { 0 });
        let med = if cheaper_for_patients { Mills::of_cents(cents - cents / 10) } else { rec };
        let (rec_special, med_special) = specials(draw, sale, rec, med);
        (label, Price { regular: rec, special: rec_special }, Price { regular: med, special: med_special })
    };
    let priced = goods.into_iter().map(&mut price).collect();
    (sale, priced)
}

fn specials(draw: &mut Draw, sale: Sale, rec: Mills, med: Mills) -> (Special, Special) {
    if !sale.is_priced() {
        return (Special::None, Special::None);
    }
    let percent = *draw.pick(&[10, 15, 20, 25, 35, 50]);
    let to_the_cent = !draw.percent(10);
    let lower = |price: Mills| if to_the_cent { Mills(price.less(percent).0 / 10 * 10) } else { price.less(percent) };
    match draw.below(100) {
        0..80 => (Special::Lower(lower(rec)), Special::Lower(lower(med))),
        80..88 => (Special::Lower(lower(rec)), Special::None),
        88..93 => (Special::NotLower(rec), Special::NotLower(med)),
        93..96 => (Special::NotLower(Mills(rec.0 + 2000)), Special::Lower(lower(med))),
        _ => (Special::None, Special::None),
    }
}

fn offers(draw: &mut Draw, stock: Stock, priced: Vec<(&'static str, Price, Price)>) -> Vec<Offer> {
    let sold_out = draw.percent(12);
    let mut offer = |(label, rec, med)| {
        let many = draw.between(1, 169) as u32;
        let plenty = stock == Stock::Manual || draw.percent(40);
        let units = if plenty { many } else { many % 25 };
        Offer { label, rec, med, units: if sold_out || draw.percent(8) { 0 } else { units } }
    };
    priced.into_iter().map(&mut offer).collect()
}

fn maker<'a>(seed: u64, brands: &'a Brands, store: &StoreSeed, index: u64) -> &'a Brand {
    let stretch = menu::weight(seed, store, index) / RANKS_PER_MAKER;
    brands.pick(&mut Draw::of(seed, Topic::Brand, &[store.index, u64::from(stretch)]))
}

/// Number of the stretch of crawls in which something stays as it is. A third of all things never change.
fn epoch(draw: &mut Draw, crawl: u32, longest: u64) -> u64 {
    let (never, length, phase) = (draw.percent(35), draw.between(1, longest), draw.below(longest));
    if never { 0 } else { (u64::from(crawl) + phase) / length }
}

fn stock_source(draw: &mut Draw, system: StockSystem) -> Stock {
    let (unknown, pos) = (draw.percent(5), draw.percent(50));
    match system {
        _ if unknown => Stock::Unknown,
        StockSystem::Pos => Stock::Pos,
        StockSystem::Manual => Stock::Manual,
        StockSystem::Mixed if pos => Stock::Pos,
        StockSystem::Mixed => Stock::Manual,
    }
}

fn name(draw: &mut Draw, category: &Category) -> String {
    let strain = words::strain(draw);
    match draw.below(5) {
        0 => format!("{strain} | {} | #{}", category.name, draw.between(1, 99)),
        1 => format!("{strain} \"{}\" {}", draw.between(1, 9), category.name),
        2 => format!("{} x {strain}", words::strain(draw)),
        3 => format!("{strain} – {}’s cut", words::company(draw)),
        _ => format!("{strain} {}", draw.between(100, 999)),
    }
}
