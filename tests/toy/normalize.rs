//! Reads Toy's menu pages into products: each has a name, a category, a brand and one price in dollars.
//!
//! Pure: no clock, no network, no database. In: the pages of one crawl, as JSON text. Out: one [`Product`] per item's id.

use serde::Deserialize;

use crate::platforms::offer::{NO_LABEL, Offer, OptionOffer, OptionPrice, OptionStock};
use crate::platforms::page_read::{self, PageRead};
use crate::platforms::reading::first_of::FirstOf;
use crate::platforms::reading::items::{self, WireItem, raw_object};
use crate::platforms::reading::reader::Reader;
use crate::platforms::reading::text::text;
use crate::platforms::reading::{Raw, decimal};
use domain::menu::product::Product;
use domain::menu::{NormalMenu, NormalPage, NormaliseError};

/// Maximum number of items on a page.
const MAX_ITEMS: usize = 1000;

#[derive(Deserialize)]
struct Answer<'a> {
    #[serde(borrow)]
    items: Option<FirstOf<'a, MAX_ITEMS>>,
    #[serde(borrow)]
    total: Raw<'a>,
}

raw_object! {
    MenuItem {
        id, name, category, brand, price,
    }
}

impl<'a> WireItem<'a> for MenuItem<'a> {
    fn id(&self) -> Raw<'a> {
        self.id
    }

    fn name(&self) -> Raw<'a> {
        self.name
    }
}

pub fn normalise(pages: &[&[u8]]) -> Result<NormalMenu, NormaliseError> {
    page_read::normalise(pages, read_page)
}

pub fn read_page(number: usize, body: &[u8]) -> Result<PageRead, NormaliseError> {
    let text = text(body).ok_or(NormaliseError::Truncated { page: number })?;
    let Answer { items, total } = items::answer(number, &text)?;
    let count = items.as_ref().map_or(0, |items| items.kept.len());
    let mut page = NormalPage::default();
    let readable: Vec<(String, MenuItem<'_>)> = items::readable(number, items, &mut page)?;
    items::add(&mut page, readable, product)?;
    let total_count = total.and_then(|total| decimal::total(total.get()));
    Ok(PageRead { page, items: count, total_count, ..PageRead::default() })
}

fn product(item: &MenuItem<'_>, read: &mut Reader<'_>) -> Product {
    let price = OptionPrice { rec: read.amount(item.price, "price"), ..OptionPrice::default() };
    let option = OptionOffer { label: NO_LABEL.to_owned(), net_weight_mg: None, price, stock: OptionStock::default() };
    let offer = Offer::new(vec![option], true);
    Product {
        brand_name_raw: read.text(item.brand, "brand"),
        category: read.text(item.category, "category"),
        // the platform has no more
        ..offer.into_product()
    }
}
