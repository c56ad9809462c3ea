//! One listing: the wording of its store or chain, with the stock and the batch of the store.
//!
//! In: a shop and a product. Out: a [`Listing`] with its truth. Depends on (seed, store, product) only.

use domain::menu::product::PotencyUnit;

use super::amounts::{Amount, Phrase};
use super::catalogue::{Catalogue, Product};
use super::kinds::Family;
use super::makers::{self, Maker};
use super::shops::Shop;
use super::wording::Wording;
use super::{Listing, Subject, Thc, Truth, draw_of};
use crate::draw::Draw;

/// Listings of a chain that one store writes on its own.
const OWN_WORDING_PERCENT: u64 = 4;
/// Listings too like another product whose clerk notices it.
const NOTICED_PERCENT: u64 = 35;
const BRAND_ID_PERCENT: u64 = 60;
const ENTERPRISE_ID_PERCENT: u64 = 90;
const NO_THC_PERCENT: u64 = 22;
const EXACT_DOSE_PERCENT: u64 = 65;

pub(super) struct Place<'a> {
    pub(super) seed: u64,
    pub(super) store: usize,
    pub(super) shop: &'a Shop,
    pub(super) makers: &'a [Maker],
    pub(super) catalogue: &'a Catalogue,
}

impl Place<'_> {
    pub(super) fn listing(&self, index: usize) -> Listing {
        let product = &self.catalogue.products[index];
        let mut draw = draw_of(self.seed, Subject::Listing, &[self.store as u64, index as u64]);
        let wording = self.wording(&mut draw, index, product);
        let options = in_stock(&mut draw, &wording.options);
        let thc = thc(&mut draw, product, wording.states_thc_per_piece());
        let of_maker = self.catalogue.of_maker(product.maker);
        let is_decidable = wording.stated(&options, thc_mg(product, thc)).decides(product, of_maker);
        let has_brand_id = wording.brand.is_some() && draw.percent(BRAND_ID_PERCENT);
        let brand_id = makers::brand_id(self.seed, self.shop.platform, product.maker);
        Listing {
            store: self.store,
            chain: self.shop.chain,
            platform: self.shop.platform,
            truth: Truth { product: index, maker: product.maker, is_decidable },
            name: wording.text(),
            brand_id: brand_id.filter(|_| has_brand_id),
            category: wording.category().to_owned(),
            subcategory: wording.subcategory(),
            strain_type: strain_type(&mut draw, product),
            enterprise_product_id: self.shop.chain.and_then(|chain| enterprise_id(self.seed, chain, index)),
            options: options.into_iter().map(|option| option.text).collect(),
            thc,
            brand: wording.brand,
        }
    }

    /// Stores of a chain share it.
    fn wording<'p>(&self, draw: &mut Draw, index: usize, product: &'p Product) -> Wording<'p> {
        let (own, of_chain) = (self.store as u64, self.shop.chain.map(|chain| chain as u64));
        let writer = match of_chain {
            Some(chain) if !draw.percent(OWN_WORDING_PERCENT) => [1, chain, index as u64],
            _ => [0, own, index as u64],
        };
        let mut spelling = draw_of(self.seed, Subject::Wording, &writer);
        let maker = &self.makers[product.maker];
        let mut wording = Wording::of(&mut spelling, self.shop.platform, &self.shop.style, product, maker);
        let stated = wording.stated(&wording.options, None);
        let is_clear = stated.decides(product, self.catalogue.of_maker(product.maker));
        if !is_clear && wording.states_brand() && spelling.percent(NOTICED_PERCENT) {
            wording.state_all(&mut spelling);
        }
        wording
    }
}

/// One of several options may be sold out.
fn in_stock(draw: &mut Draw, options: &[Phrase]) -> Vec<Phrase> {
    let mut options = options.to_vec();
    if options.len() > 1 && draw.percent(15) {
        options.remove(draw.below(options.len() as u64) as usize);
    }
    options
}

fn thc(draw: &mut Draw, product: &Product, is_per_piece: bool) -> Option<Thc> {
    if draw.percent(NO_THC_PERCENT) || product.family() == Family::Accessory {
        return None;
    }
    match product.dose {
        Some(each) => Some(dose(draw, product, each, is_per_piece)),
        None => Some(content(draw, product)),
    }
}

fn dose(draw: &mut Draw, product: &Product, each: u32, is_per_piece: bool) -> Thc {
    let mg = f64::from(if is_per_piece { each } else { each * product.pack });
    if let ([Amount::Ml(size)], true) = (product.sizes, draw.percent(12)) {
        return Thc { value: rounded(mg / f64::from(*size), 2), unit: PotencyUnit::MilligramsPerGram };
    }
    let value = if draw.percent(EXACT_DOSE_PERCENT) { mg } else { rounded(mg * (0.95 + draw.unit() * 0.1), 1) };
    Thc { value, unit: PotencyUnit::Milligrams }
}

/// Batches of flower and oil differ.
fn content(draw: &mut Draw, product: &Product) -> Thc {
    let (low, range) = match product.family() {
        Family::Flower => (16.0, 16.0),
        Family::PreRoll => (18.0, 22.0),
        _ => (65.0, 25.0),
    };
    let percent = low + product.potency * range + draw.unit() * 4.0 - 2.0;
    match product.sizes {
        [Amount::Mg(size)] if product.family() == Family::Vaporizer && draw.percent(20) => {
            Thc { value: rounded(percent / 100.0 * f64::from(*size), 0), unit: PotencyUnit::Milligrams }
        }
        _ => Thc { value: rounded(percent, 2), unit: PotencyUnit::Percentage },
    }
}

/// The dose as far as the THC states it.
fn thc_mg(product: &Product, thc: Option<Thc>) -> Option<f64> {
    let thc = thc.filter(|thc| thc.unit == PotencyUnit::Milligrams && product.dose.is_some())?;
    Some(thc.value)
}

fn rounded(value: f64, digits: i32) -> f64 {
    let unit = 10f64.powi(digits);
    (value * unit).round() / unit
}

fn strain_type(draw: &mut Draw, product: &Product) -> Option<String> {
    let missing = if product.family().has_flavour() || product.family() == Family::Accessory { 70 } else { 14 };
    match draw.below(100) {
        chance if chance < missing => None,
        chance if chance < missing + 8 => Some("N/A".to_owned()),
        chance if chance < missing + 14 => Some(product.strain_type.to_uppercase()),
        _ => Some(product.strain_type.to_owned()),
    }
}

fn enterprise_id(seed: u64, chain: usize, product: usize) -> Option<String> {
    let mut draw = draw_of(seed, Subject::EnterpriseId, &[chain as u64, product as u64]);
    draw.percent(ENTERPRISE_ID_PERCENT).then(|| draw.object_id())
}
