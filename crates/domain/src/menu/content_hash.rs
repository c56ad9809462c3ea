//! The content hash of a product: one number for all that is written of it and its variants, so that an
//! unchanged product is known without a comparison of its columns.
//!
//! SipHash-1-3 with a key of zeros over a fixed encoding: rows keep it, so it must not depend on the process,
//! the compiler or the order of fields in a type.

use std::hash::Hasher;

use chrono::{DateTime, Utc};
use siphasher::sip::SipHasher13;

use super::attributes::AttributesJson;
use super::product::{Potency, Product, SpecialsJson, Variant};

/// Raise it when equal products must be written again: a field's encoding changes, or its column is made from
/// it in another way.
const VERSION: i64 = 1;

impl Product {
    /// Equal for products that make the same rows. `upstream_updated_at` is left out: a sync of the shop's
    /// point-of-sale system moves it and nothing else.
    pub fn content_hash(&self) -> i64 {
        let mut hash = ContentHasher(Vec::with_capacity(USUAL_BYTES));
        hash.number(&Some(VERSION));
        hash.product(self);
        hash.finish()
    }
}

/// The hash of a text by itself.
pub fn of_text(text: &str) -> i64 {
    hash_of(text.as_bytes())
}

fn hash_of(bytes: &[u8]) -> i64 {
    let mut hasher = SipHasher13::new();
    hasher.write(bytes);
    hasher.finish().cast_signed()
}

/// Each field is written with its length or presence, so that no two sequences of fields share their bytes.
/// They are hashed as a whole: the hash takes long texts faster than many short ones.
struct ContentHasher(Vec<u8>);

/// Capacity that suffices for most products.
const USUAL_BYTES: usize = 1024;

/// Writes each field of a struct by the method after its name. The hash depends on the order of the lines. A
/// field without a line does not compile: "pattern requires `..`".
macro_rules! write_fields {
    ($hasher:ident, $value:ident: $struct:ident { $($field:ident: $method:ident,)+ }) => {
        let $struct { $($field),+ } = $value;
        $($hasher.$method($field);)+
    };
}

impl ContentHasher {
    fn product(&mut self, product: &Product) {
        write_fields!(self, product: Product {
            provider_product_id: text,
            name_raw: text,
            enterprise_product_id: optional_text,
            brand_name_raw: optional_text,
            category: optional_text,
            subcategory: optional_text,
            strain_type: optional_text,
            image_url: optional_text,
            brand_image_url: optional_text,
            price_rec: number,
            price_med: number,
            special_price_rec: number,
            special_price_med: number,
            quantity: number,
            is_on_special: flag,
            quantity_censored: flag,
            is_in_stock: flag,
            stock_status: name,
            upstream_status: optional_name,
            thc: potency,
            cbd: potency,
            specials: specials,
            upstream_created_at: time,
            upstream_updated_at: left_out,
            has_unknown_unit: left_out,
            variants: variants,
            attributes: attributes,
        });
    }

    fn variant(&mut self, variant: &Variant) {
        write_fields!(self, variant: Variant {
            option_label: text,
            nth: index,
            size_mg: number,
            size_ml: float,
            price_rec: number,
            price_med: number,
            special_price_rec: number,
            special_price_med: number,
            quantity: number,
            quantity_censored: flag,
            is_in_stock: flag,
        });
    }

    fn left_out<T>(&mut self, _: &T) {}

    fn variants(&mut self, variants: &[Variant]) {
        self.number(&i64::try_from(variants.len()).ok());
        variants.iter().for_each(|variant| self.variant(variant));
    }

    fn specials(&mut self, specials: &Option<SpecialsJson>) {
        self.number(&specials.as_ref().map(|specials| specials.json().hash()));
    }

    /// Last and only where there are any: the products of a platform without them keep their hash.
    fn attributes(&mut self, attributes: &Option<AttributesJson>) {
        if let Some(attributes) = attributes {
            self.number(&Some(attributes.lasting_hash()));
        }
    }

    fn potency(&mut self, potency: &Option<Potency>) {
        let Some(Potency { min, max, unit }) = potency else { return self.number(&None::<i64>) };
        self.number(&Some(1));
        self.float(min);
        self.float(max);
        self.optional_name(unit);
    }

    fn name(&mut self, name: impl Into<&'static str>) {
        self.text(name.into());
    }

    fn optional_name<N: Copy + Into<&'static str>>(&mut self, name: &Option<N>) {
        self.string(name.map(N::into));
    }

    fn text(&mut self, text: &str) {
        self.string(Some(text));
    }

    fn optional_text(&mut self, text: &Option<String>) {
        self.string(text.as_deref());
    }

    fn flag(&mut self, flag: &bool) {
        self.bytes(&[u8::from(*flag)]);
    }

    fn time(&mut self, time: &Option<DateTime<Utc>>) {
        self.number(&time.map(|time| time.timestamp_micros()));
    }

    fn float(&mut self, number: &Option<f64>) {
        self.number(&number.map(|number| number.to_bits().cast_signed()));
    }

    fn index(&mut self, index: &i16) {
        self.number(&Some(*index));
    }

    fn number<N: Copy + Into<i64>>(&mut self, number: &Option<N>) {
        self.bytes(&[u8::from(number.is_some())]);
        self.bytes(&number.map_or(0, N::into).to_le_bytes());
    }

    fn string(&mut self, text: Option<&str>) {
        self.number(&text.and_then(|text| i64::try_from(text.len()).ok()));
        self.bytes(text.unwrap_or_default().as_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn finish(&self) -> i64 {
        hash_of(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::menu::attributes::Attributes;
    use crate::menu::product::{PotencyUnit, StockStatus, UpstreamStatus};

    fn variant() -> Variant {
        Variant {
            option_label: "1/8oz".to_owned(),
            nth: 0,
            size_mg: Some(3500),
            size_ml: None,
            price_rec: Some(3400),
            price_med: None,
            special_price_rec: Some(2795),
            special_price_med: None,
            quantity: Some(3),
            quantity_censored: false,
            is_in_stock: true,
        }
    }

    fn delivery(is_delivered: bool) -> Option<AttributesJson> {
        Attributes { delivery: Some(is_delivered), ..Attributes::default() }.into_json()
    }

    fn product() -> Product {
        Product {
            provider_product_id: "p1".to_owned(),
            name_raw: "Animal Mntz".to_owned(),
            brand_name_raw: Some("Bud Bros".to_owned()),
            category: Some("Flower".to_owned()),
            strain_type: Some("Hybrid".to_owned()),
            price_rec: Some(3400),
            special_price_rec: Some(2795),
            is_on_special: true,
            thc: Some(Potency { min: Some(18.0), max: Some(22.5), unit: Some(PotencyUnit::Percentage) }),
            quantity: Some(3),
            is_in_stock: true,
            stock_status: StockStatus::InStock,
            upstream_status: Some(UpstreamStatus::Active),
            image_url: Some("https://i/p".to_owned()),
            specials: Some(SpecialsJson::new(r#"{"saleSpecials":[1]}"#.to_owned())),
            upstream_created_at: DateTime::from_timestamp_millis(1_758_030_118_081),
            variants: vec![variant(), Variant { option_label: "1g".to_owned(), ..variant() }],
            ..Product::default()
        }
    }

    /// Rows keep it: another value makes every product of every store count as changed.
    #[test]
    fn the_hash_is_the_same_in_every_build() {
        assert_eq!(
            (product().content_hash(), of_text(r#"{"saleSpecials":[1]}"#)),
            (-6_918_993_045_680_713_610, 5_393_719_011_835_734_982)
        );
    }

    #[test]
    fn a_time_of_upstream_alone_is_no_change() {
        let touched = Product { upstream_updated_at: DateTime::from_timestamp_millis(1), ..product() };
        assert_eq!(touched.content_hash(), product().content_hash());
    }

    #[test]
    fn every_other_field_is_a_change() {
        type Change = fn(&mut Product);
        let changes: &[Change] = &[
            |p| p.provider_product_id.push('x'),
            |p| p.enterprise_product_id = Some(String::new()),
            |p| p.name_raw.push('x'),
            |p| p.brand_name_raw = None,
            |p| p.category = None,
            |p| p.subcategory = Some("x".to_owned()),
            |p| p.strain_type = None,
            |p| p.price_rec = None,
            |p| p.price_med = Some(0),
            |p| p.special_price_rec = None,
            |p| p.special_price_med = Some(0),
            |p| p.is_on_special = false,
            |p| p.thc = None,
            |p| p.thc = Some(Potency { min: Some(18.0), max: Some(22.5), unit: None }),
            |p| p.thc = Some(Potency { min: None, max: Some(22.5), unit: Some(PotencyUnit::Percentage) }),
            |p| p.thc = Some(Potency { min: Some(18.0), max: None, unit: Some(PotencyUnit::Percentage) }),
            |p| p.cbd = Some(Potency { min: None, max: None, unit: None }),
            |p| p.quantity = Some(4),
            |p| p.quantity_censored = true,
            |p| p.is_in_stock = false,
            |p| p.stock_status = StockStatus::Oos,
            |p| p.upstream_status = None,
            |p| p.image_url = None,
            |p| p.brand_image_url = Some("https://i/b".to_owned()),
            |p| std::mem::swap(&mut p.image_url, &mut p.brand_image_url),
            |p| p.specials = None,
            |p| p.specials = Some(SpecialsJson::new(r#"{"saleSpecials":[2]}"#.to_owned())),
            |p| p.attributes = delivery(true),
            |p| p.attributes = delivery(false),
            |p| p.upstream_created_at = None,
            |p| drop(p.variants.pop()),
            |p| p.variants.swap(0, 1),
            |p| p.variants[1].option_label.push('x'),
            |p| p.variants[1].nth = 1,
            |p| p.variants[1].size_mg = None,
            |p| p.variants[1].size_ml = Some(1.0),
            |p| p.variants[1].price_rec = None,
            |p| p.variants[1].price_med = Some(0),
            |p| p.variants[1].special_price_rec = None,
            |p| p.variants[1].special_price_med = Some(0),
            |p| p.variants[1].quantity = None,
            |p| p.variants[1].quantity_censored = true,
            |p| p.variants[1].is_in_stock = false,
        ];
        let mut hashes = vec![product().content_hash()];
        for change in changes {
            let mut changed = product();
            change(&mut changed);
            hashes.push(changed.content_hash());
        }
        let distinct: std::collections::HashSet<i64> = hashes.iter().copied().collect();
        assert_eq!(distinct.len(), hashes.len());
    }
}
