//! `MenuDiff`: a menu's products, compared with the rows of its store.
//!
//! In: the menu's products with their content hashes, and the store's rows; a row with a hash of the menu may be known by
//! that alone. Out: which products are new, changed or unchanged, and which rows the menu lacks. It knows nothing of the
//! order of payloads, nor of how rows are written.

use std::collections::HashMap;

use super::changes::Presence;
use super::product::{Product, ProductId};
use super::stock::MISSES_TO_OUT_OF_STOCK;
use crate::switches::{SwitchKind, Switches};

/// A store's row of a product, as far as the comparison needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownProduct {
    pub id: ProductId,
    pub provider_product_id: String,
    /// Hash of the row's and its variants' content; None = unknown, which differs from every product.
    pub content_hash: Option<i64>,
    pub is_in_stock: bool,
    pub misses: i16,
    /// The last known status at the platform; None = the platform never said.
    pub is_listed: Option<bool>,
}

/// Hashes of a store's rows that no crawl has missed.
#[derive(Clone, Debug, Default)]
pub struct RowHashes {
    /// Ids by hash. A hash covers the platform's id: no two rows of a store and platform have the same.
    pub ids: HashMap<i64, ProductId>,
    /// Ids of the store's other rows.
    pub others: Vec<ProductId>,
}

impl RowHashes {
    /// The ids of the rows with these hashes, by hash, and those of all other rows.
    pub fn split(mut self, hashes: &[i64]) -> (HashMap<i64, ProductId>, Vec<ProductId>) {
        let same = hashes.iter().filter_map(|hash| Some((*hash, self.ids.remove(hash)?))).collect();
        self.others.extend(self.ids.into_values());
        (same, self.others)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowChange {
    New,
    Changed { id: ProductId, was_in_stock: bool, presence: Presence },
    Unchanged { id: ProductId },
}

impl RowChange {
    /// None = the product has no row yet.
    pub fn id(self) -> Option<ProductId> {
        match self {
            RowChange::New => None,
            RowChange::Changed { id, .. } | RowChange::Unchanged { id } => Some(id),
        }
    }

    /// The product's presence before this menu; None = the one that the menu says.
    pub fn presence(self) -> Option<Presence> {
        match self {
            RowChange::New => Some(Presence::Unknown),
            RowChange::Changed { presence, .. } => Some(presence),
            RowChange::Unchanged { .. } => None,
        }
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct MenuDiff {
    /// One a product, in the menu's order.
    pub changes: Vec<RowChange>,
    /// The rows that the menu lacks and a further miss changes, in the order of their ids.
    pub absent: Vec<KnownProduct>,
}

/// The products with the last known status where the menu gives none; None if that changes nothing.
pub fn with_known_statuses(products: &[Product], known: &[KnownProduct]) -> Option<Vec<Product>> {
    if products.iter().all(|product| product.upstream_status.is_some()) {
        return None;
    }
    let listed: HashMap<&str, bool> =
        known.iter().filter_map(|row| Some((row.provider_product_id.as_str(), row.is_listed?))).collect();
    if listed.is_empty() {
        return None;
    }
    let settled = |product: &Product| match listed.get(product.provider_product_id.as_str()) {
        Some(is_listed) if product.upstream_status.is_none() => product.clone().listed(*is_listed),
        _ => product.clone(),
    };
    Some(products.iter().map(settled).collect())
}

impl MenuDiff {
    /// The rows in stock, and those of them that the menu puts out of stock, or lacks for the first time. Rows that a
    /// menu of less than half as many products lacks are left out: the fetch has judged it. `counts_misses`: the menu is
    /// whole, and a row that it lacks is missed.
    pub fn switches(&self, products: &[Product], counts_misses: bool) -> Switches {
        let was_in_stock = |(change, product): (&RowChange, &Product)| match change {
            RowChange::New => None,
            RowChange::Changed { was_in_stock, .. } => was_in_stock.then_some(product.is_in_stock),
            RowChange::Unchanged { .. } => product.is_in_stock.then_some(true),
        };
        let named: Vec<bool> = self.changes.iter().zip(products).filter_map(was_in_stock).collect();
        let sold_out = named.iter().filter(|is_in_stock| !**is_in_stock).count();
        let lacking = self.absent.iter().filter(|row| row.is_in_stock && row.misses == 0).count();
        let is_judged_here = counts_misses && 2 * products.len() >= named.len() + lacking;
        let lacking = if is_judged_here { lacking } else { 0 };
        Switches { kind: SwitchKind::Products, covered: named.len() + lacking, switched: sold_out + lacking }
    }

    /// `hashes` belong to `products`, whose provider ids are distinct; `same` are ids of rows by their hash, and `known` the
    /// other rows.
    pub fn new(
        products: &[Product],
        hashes: &[i64],
        same: &HashMap<i64, ProductId>,
        known: &[KnownProduct],
    ) -> MenuDiff {
        let mut rows: HashMap<&str, &KnownProduct> =
            known.iter().map(|row| (row.provider_product_id.as_str(), row)).collect();
        let compared = products.iter().zip(hashes).map(|(product, hash)| match same.get(hash) {
            Some(id) => RowChange::Unchanged { id: *id },
            None => rows.remove(product.provider_product_id.as_str()).map_or(RowChange::New, |row| row.change(*hash)),
        });
        let changes = compared.collect();
        let missed = rows.into_values().filter(|row| row.misses < MISSES_TO_OUT_OF_STOCK);
        let mut absent: Vec<_> = missed.cloned().collect();
        absent.sort_unstable_by_key(|row| row.id);
        MenuDiff { changes, absent }
    }
}

impl KnownProduct {
    /// A row that counts misses is written even where its content is the same: it is back on the menu.
    fn change(&self, hash: i64) -> RowChange {
        if self.misses == 0 && self.content_hash == Some(hash) {
            return RowChange::Unchanged { id: self.id };
        }
        RowChange::Changed { id: self.id, was_in_stock: self.is_in_stock, presence: self.presence() }
    }

    pub fn presence(&self) -> Presence {
        let is_missed = self.misses >= MISSES_TO_OUT_OF_STOCK;
        if is_missed || self.is_listed == Some(false) { Presence::Gone } else { Presence::Listed }
    }

    /// Whether one more miss puts it out of stock.
    pub fn goes_out_of_stock(&self) -> bool {
        self.is_in_stock && self.is_gone_after_a_miss()
    }

    /// Whether one more miss is the third.
    pub fn is_gone_after_a_miss(&self) -> bool {
        self.misses + 1 >= MISSES_TO_OUT_OF_STOCK
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;
    use crate::menu::product::UpstreamStatus;

    fn row(id: ProductId, hash: Option<i64>, misses: i16) -> KnownProduct {
        KnownProduct {
            id,
            provider_product_id: format!("p{id}"),
            content_hash: hash,
            is_in_stock: true,
            misses,
            is_listed: None,
        }
    }

    fn changed(id: ProductId) -> RowChange {
        RowChange::Changed { id, was_in_stock: true, presence: Presence::Listed }
    }

    fn on_menu(id: ProductId) -> Product {
        Product { provider_product_id: format!("p{id}"), is_in_stock: true, ..Product::default() }
    }

    #[rstest]
    #[case::without_a_row(vec![], RowChange::New)]
    #[case::of_another_id(vec![row(2, Some(7), 0)], RowChange::New)]
    #[case::of_the_same_content(vec![row(1, Some(7), 0)], RowChange::Unchanged { id: 1 })]
    #[case::of_other_content(vec![row(1, Some(8), 0)], changed(1))]
    #[case::of_unknown_content(vec![row(1, None, 0)], changed(1))]
    #[case::back_after_a_miss(vec![row(1, Some(7), 1)], changed(1))]
    fn a_product_is_compared_by_its_hash(#[case] known: Vec<KnownProduct>, #[case] expected: RowChange) {
        assert_eq!(MenuDiff::new(&[on_menu(1)], &[7], &HashMap::new(), &known).changes, [expected]);
    }

    #[rstest]
    #[case::the_menu_says_so(Some(UpstreamStatus::Active), Some(false), true)]
    #[case::it_was_delisted(None, Some(false), false)]
    #[case::it_was_listed(None, Some(true), true)]
    #[case::never_said(None, None, true)]
    fn a_product_without_a_status_keeps_the_last_known_one(
        #[case] upstream_status: Option<UpstreamStatus>,
        #[case] is_listed: Option<bool>,
        #[case] is_in_stock: bool,
    ) {
        let (menu, known) =
            ([Product { upstream_status, ..on_menu(1) }], [KnownProduct { is_listed, ..row(1, None, 0) }]);
        let settled = with_known_statuses(&menu, &known).unwrap_or_else(|| menu.to_vec());
        assert_eq!(settled[0].is_in_stock, is_in_stock);
        if upstream_status.is_none() {
            assert_eq!(settled[0].upstream_status.map(|status| status == UpstreamStatus::Active), is_listed);
        }
    }

    #[test]
    fn only_products_that_were_in_stock_are_switched() {
        let known = [
            row(1, None, 0),
            row(2, Some(7), 0),
            KnownProduct { is_in_stock: false, ..row(3, None, 0) },
            row(4, None, 0),
            row(5, None, 1),
            KnownProduct { is_in_stock: false, ..row(6, None, 0) },
        ];
        let menu = [Product { is_in_stock: false, ..on_menu(1) }, on_menu(2), on_menu(3), on_menu(9)];
        let diff = MenuDiff::new(&menu, &[7; 4], &HashMap::new(), &known);
        let (whole, partial) = (diff.switches(&menu, true), diff.switches(&menu, false));
        assert_eq!((whole.covered, whole.switched), (3, 2));
        assert_eq!((partial.covered, partial.switched), (2, 1));
    }

    #[rstest]
    #[case::all_under_other_ids(20, 20)]
    #[case::half_as_many_under_other_ids(10, 20)]
    #[case::a_menu_that_the_fetch_judges(9, 0)]
    fn what_a_menu_lacks_for_the_first_time_is_switched(#[case] others: ProductId, #[case] switched: usize) {
        let known: Vec<KnownProduct> = (1..=20).map(|id| row(id, None, 0)).collect();
        let menu: Vec<Product> = (100..100 + others).map(on_menu).collect();
        let diff = MenuDiff::new(&menu, &vec![7; menu.len()], &HashMap::new(), &known);
        assert_eq!(diff.switches(&menu, true).switched, switched);
    }

    #[rstest]
    #[case::never_missed(0, true)]
    #[case::missed_twice(2, true)]
    #[case::at_three_nothing_more_is_written(3, false)]
    fn what_the_menu_lacks_is_absent(#[case] misses: i16, #[case] is_absent: bool) {
        let diff = MenuDiff::new(&[], &[], &HashMap::new(), &[row(1, None, misses)]);
        assert_eq!(diff.absent.len(), usize::from(is_absent));
    }

    #[rstest]
    #[case::the_third_miss(row(1, None, 2), true)]
    #[case::the_second(row(1, None, 1), false)]
    #[case::sold_out_before(KnownProduct { is_in_stock: false, ..row(1, None, 2) }, false)]
    fn the_third_miss_puts_out_of_stock(#[case] row: KnownProduct, #[case] expected: bool) {
        assert_eq!(row.goes_out_of_stock(), expected);
    }

    #[rstest]
    #[case::on_the_menu(row(1, None, 0), Presence::Listed)]
    #[case::missed_twice(row(1, None, 2), Presence::Listed)]
    #[case::missed_three_times(row(1, None, 3), Presence::Gone)]
    #[case::delisted(KnownProduct { is_listed: Some(false), ..row(1, None, 0) }, Presence::Gone)]
    fn a_row_is_gone_after_three_misses_or_delisted(#[case] row: KnownProduct, #[case] expected: Presence) {
        assert_eq!(row.presence(), expected);
    }

    fn any_rows() -> impl Strategy<Value = Vec<KnownProduct>> {
        let fields = (prop::option::of(0..3i64), any::<bool>(), 0..=3i16);
        prop::collection::btree_map(1..12i64, fields, 0..12).prop_map(|rows: BTreeMap<_, _>| {
            let known = |(id, (hash, is_in_stock, misses))| KnownProduct { is_in_stock, ..row(id, hash, misses) };
            rows.into_iter().map(known).collect()
        })
    }

    proptest! {
        #[test]
        fn it_agrees_with_a_comparison_of_each_with_each(
            known in any_rows(),
            menu in prop::collection::btree_map(1..12i64, 0..3i64, 0..12),
        ) {
            let products: Vec<Product> = menu.keys().map(|id| on_menu(*id)).collect();
            let hashes: Vec<i64> = menu.values().copied().collect();
            let diff = MenuDiff::new(&products, &hashes, &HashMap::new(), &known);

            for ((product, hash), change) in products.iter().zip(&hashes).zip(&diff.changes) {
                let row = known.iter().find(|row| row.provider_product_id == product.provider_product_id);
                let expected = match row {
                    None => RowChange::New,
                    Some(row) if row.content_hash == Some(*hash) && row.misses == 0 => RowChange::Unchanged { id: row.id },
                    Some(row) => RowChange::Changed { id: row.id, was_in_stock: row.is_in_stock, presence: row.presence() },
                };
                prop_assert_eq!(*change, expected);
            }
            let lacks = |row: &&KnownProduct| row.misses < 3 && !menu.contains_key(&row.id);
            let absent: Vec<KnownProduct> = known.iter().filter(lacks).cloned().collect();
            prop_assert_eq!(diff.absent, absent);
        }
    }

    #[test]
    fn rows_with_a_hash_of_the_menu_are_not_read() {
        let (same, others) = RowHashes { ids: HashMap::from([(7, 1), (8, 2)]), others: vec![3] }.split(&[7, 9]);
        assert_eq!(others, [3, 2]);
        let menu = [on_menu(1), on_menu(2), on_menu(4)];
        let diff = MenuDiff::new(&menu, &[7, 9, 10], &same, &[row(2, Some(8), 0), row(3, None, 1)]);
        assert_eq!(diff.changes, [RowChange::Unchanged { id: 1 }, changed(2), RowChange::New]);
        assert_eq!(diff.absent, [row(3, None, 1)]);
    }

    #[test]
    fn a_product_without_a_row_has_no_id() {
        let changes = [RowChange::New, changed(7), RowChange::Unchanged { id: 8 }];
        assert_eq!(changes.map(RowChange::id), [None, Some(7), Some(8)]);
    }
}
