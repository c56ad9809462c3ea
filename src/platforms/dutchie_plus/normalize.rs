//! Reads Dutchie Plus' answer into products.
//!
//! Pure: no clock, no network, no database. In: an answer, as JSON text. Out: one [`Product`] per provider
//! id, with oddities as warnings beside them; only an answer that is not a menu is an error.

mod wire;
mod words;

use crate::platforms::offer::{NO_LABEL, Offer, OptionOffer, OptionPrice, OptionStock};
use crate::platforms::page_read::{self, PageRead};
use crate::platforms::reading::brand::brand;
use crate::platforms::reading::errors::{self, Cost};
use crate::platforms::reading::reader::{self, Reader};
use crate::platforms::reading::text::text;
use crate::platforms::reading::{Raw, decimal, items, potency};
use domain::menu::product::Product;
use domain::menu::{NormalMenu, NormalPage, NormaliseError, Warnings};
use wire::{Answer, MAX_PRODUCTS, Menu, WireProduct, WireVariant};

/// Normalises the answers of one crawl.
pub fn normalise(answers: &[&[u8]]) -> Result<NormalMenu, NormaliseError> {
    page_read::normalise(answers, read_menu)
}

/// Normalises one answer; `number` names it in errors.
pub fn read_menu(number: usize, body: &[u8]) -> Result<PageRead, NormaliseError> {
    let text = text(body).ok_or(NormaliseError::Truncated { page: number })?;
    let (Menu { products, products_count }, cost) = parse(number, &text)?;
    let not_a_menu = |why: String| NormaliseError::NotAMenu { page: number, why };
    let products = products.ok_or_else(|| not_a_menu("no products in it".to_owned()))?;
    if products.dropped > 0 {
        return Err(not_a_menu(format!("more than {MAX_PRODUCTS} products")));
    }
    let items = products.kept.len();
    let failed = cost.failed_of(items).ok_or(NormaliseError::HasErrors { page: number })?;
    let mut page = NormalPage::default();
    for (index, raw) in products.kept.into_iter().enumerate() {
        match items::item::<WireProduct<'_>>(raw).filter(|_| !failed.contains(&index)) {
            Some((id, item)) => {
                let product = product(id, &item, &mut page.warnings);
                page.push(product)?;
            }
            None => page.warnings.push(items::unreadable("no product with an id, or it failed")),
        }
    }
    let total_count = products_count.and_then(|raw| decimal::total(raw.get()));
    Ok(PageRead { page, items, total_count, ..PageRead::default() })
}

/// The menu, and the cost of the errors beside it.
fn parse(number: usize, text: &str) -> Result<(Menu<'_>, Cost), NormaliseError> {
    let answer: Answer<'_> = items::answer(number, text)?;
    let cost = errors::cost(answer.errors, &["menu", "products"]);
    match (answer.data.and_then(|data| data.menu), cost) {
        (Some(menu), cost @ (Cost::Nothing | Cost::Elements(_))) => Ok((menu, cost)),
        (None, Cost::Nothing) => Err(NormaliseError::NotAMenu { page: number, why: "no menu in it".to_owned() }),
        (_, Cost::Answer) | (None, Cost::Elements(_)) => Err(NormaliseError::HasErrors { page: number }),
    }
}

fn product(id: String, item: &WireProduct<'_>, warnings: &mut Warnings) -> Product {
    let mut read = Reader::new(&id, warnings);
    let brand = brand(item.brand, &mut read);
    // whatever is on this menu is sold
    let offer = Offer::new(options(item.variants, &mut read), true);
    Product {
        enterprise_product_id: read.text(item.enterprise_product_id, "enterpriseProductId"),
        name_raw: items::name(item, &mut read).unwrap_or_else(|| id.clone()),
        brand_name_raw: brand.name,
        category: read.text(item.category, "category").and_then(words::category),
        subcategory: read.text(item.subcategory, "subcategory").and_then(words::subcategory),
        strain_type: read.text(item.strain_type, "strainType").and_then(words::strain_type),
        thc: potency::potency(item.potency_thc, "potencyThc", &mut read),
        cbd: potency::potency(item.potency_cbd, "potencyCbd", &mut read),
        image_url: read.address(item.image, "image"),
        brand_image_url: brand.image_url,
        provider_product_id: id,
        // the platform has no more
        ..offer.into_product()
    }
}

fn options(variants: Raw<'_>, read: &mut Reader<'_>) -> Vec<OptionOffer> {
    let variants = read.list(variants, "variants").into_iter();
    variants.filter_map(|raw| Some(option(&read.object(Some(raw), "variants")?, read))).collect()
}

fn option(variant: &WireVariant<'_>, read: &mut Reader<'_>) -> OptionOffer {
    OptionOffer {
        label: label(variant, read).unwrap_or_else(|| NO_LABEL.to_owned()),
        net_weight_mg: None,
        price: OptionPrice {
            rec: read.amount(variant.price_rec, "priceRec"),
            med: read.amount(variant.price_med, "priceMed"),
            special_rec: read.amount(variant.special_price_rec, "specialPriceRec"),
            special_med: read.amount(variant.special_price_med, "specialPriceMed"),
        },
        stock: OptionStock { quantity: variant.quantity.and_then(|raw| decimal::count(raw.get())), censored: false },
    }
}

/// The option, or the end of the variant's id.
fn label(variant: &WireVariant<'_>, read: &mut Reader<'_>) -> Option<String> {
    let named = variant.option.and_then(|raw| read.label(raw, "option"));
    named.or_else(|| {
        let id = reader::key_text(variant.id)?;
        id.split_once('~').map(|(_, option)| option.to_owned()).filter(|option| !option.is_empty())
    })
}

#[cfg(test)]
mod tests;
