//! `MenuChanges`: the lines that one crawl adds to the feed of changes.
//!
//! In: what the crawl writes, product by product and option by option, with the state before. Out: lines in the order of
//! products. It must not know which crawls make changes, nor how lines are kept.

use std::borrow::Cow;

use super::variants::VariantWrites;
use db::changes::ChangeLine;
use domain::menu::changes::{self, Change, Presence};
use domain::menu::product::{ProductId, Variant};

pub struct MenuChanges<'a> {
    lines: Vec<ChangeLine<'a>>,
    /// Maximum quantity that is few.
    low_stock: i32,
}

impl<'a> MenuChanges<'a> {
    pub fn new(low_stock: i32) -> MenuChanges<'a> {
        MenuChanges { lines: Vec::new(), low_stock }
    }

    /// A product that the menu names, or that has had its third miss.
    pub fn product(&mut self, product_id: ProductId, before: Presence, after: Presence) {
        let change = changes::of_product(before, after);
        self.lines.extend(change.map(|change| ChangeLine { product_id, option: None, change }));
    }

    /// Options whose price or stock differs, that left the menu, or that are on it again.
    pub fn options(&mut self, variants: &'a VariantWrites<'a>) {
        let repriced = variants.repriced.iter().map(|(id, before, after)| (*id, before, after.variant));
        let returned = variants.returned.iter().map(|(id, before, after)| (*id, before, *after));
        for (id, before, after) in repriced.chain(returned) {
            self.option(id, Cow::Borrowed(after), changes::of_option(before, after, self.low_stock));
        }
        for (id, before) in &variants.removed {
            self.option(*id, Cow::Borrowed(before), changes::of_removed(before));
        }
    }

    /// Options that went out of stock with their products.
    pub fn sold_out(&mut self, options: Vec<(ProductId, Variant)>) {
        for (id, before) in options {
            let change = changes::of_removed(&before);
            self.option(id, Cow::Owned(before), change);
        }
    }

    fn option(&mut self, product_id: ProductId, option: Cow<'a, Variant>, changes: impl IntoIterator<Item = Change>) {
        let nth = option.nth;
        let label = match option {
            Cow::Borrowed(option) => Cow::Borrowed(option.option_label.as_str()),
            Cow::Owned(option) => Cow::Owned(option.option_label),
        };
        let line = |change| ChangeLine { product_id, option: Some((label.clone(), nth)), change };
        self.lines.extend(changes.into_iter().map(line));
    }

    /// The lines, those of a product together and its own first.
    pub fn lines(mut self) -> Vec<ChangeLine<'a>> {
        self.lines.sort_by(|one, other| (one.product_id, &one.option).cmp(&(other.product_id, &other.option)));
        self.lines
    }
}
