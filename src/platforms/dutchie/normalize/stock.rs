//! How much of each option there is: from the point of sale (`POSMetaData.children`), otherwise from the
//! manual inventory, otherwise unknown.

use super::wire::{PosMetaData, StockRow, WireProduct};
use crate::platforms::offer::OptionStock;
use crate::platforms::reading::reader::Reader;
use crate::platforms::reading::{Raw, decimal};

/// Upstream caps POS quantities: 25 means 25 or more. Manual inventory is not capped.
const POS_CAP: i32 = 25;

struct Row {
    option: Option<String>,
    stock: OptionStock,
}

/// The stock of every option in `labels`, by its label; a row that no label claims belongs to the option at
/// its index.
pub fn by_option(
    item: &WireProduct<'_>,
    pos: &PosMetaData<'_>,
    labels: &[String],
    read: &mut Reader<'_>,
) -> Vec<OptionStock> {
    let mut rows = pos_rows(pos.children, read);
    if rows.is_empty() {
        rows = manual_rows(item.manual_inventory, read);
    }
    let mut stocks: Vec<Option<OptionStock>> = vec![None; labels.len()];
    let mut spare = Vec::new();
    for (index, row) in rows.into_iter().enumerate() {
        let named = labels.iter().enumerate().find(|(at, label)| row.is_of(label) && stocks[*at].is_none());
        match named.map(|(at, _)| at) {
            Some(at) => stocks[at] = Some(row.stock),
            None => spare.push((index, row)),
        }
    }
    for (index, row) in spare {
        // a second row of a label is not another option's stock
        if !labels.iter().any(|label| row.is_of(label)) && stocks.get(index).is_some_and(Option::is_none) {
            stocks[index] = Some(row.stock);
        }
    }
    stocks.into_iter().map(Option::unwrap_or_default).collect()
}

impl Row {
    fn is_of(&self, label: &str) -> bool {
        self.option.as_deref() == Some(label)
    }
}

fn pos_rows(children: Raw<'_>, read: &mut Reader<'_>) -> Vec<Row> {
    rows(children, "POSMetaData.children", read, |row| {
        let quantity = count(row.quantity_available).or_else(|| count(row.quantity));
        OptionStock { quantity, censored: quantity.is_some_and(|quantity| quantity >= POS_CAP) }
    })
}

fn manual_rows(inventory: Raw<'_>, read: &mut Reader<'_>) -> Vec<Row> {
    rows(inventory, "manualInventory", read, |row| OptionStock { quantity: count(row.inventory), censored: false })
}

fn rows(
    raw: Raw<'_>,
    field: &'static str,
    read: &mut Reader<'_>,
    stock: impl Fn(&StockRow<'_>) -> OptionStock,
) -> Vec<Row> {
    let rows = read.list(raw, field);
    rows.into_iter()
        .map(|raw| {
            // a broken row keeps its place, so that the others keep their index
            let row: StockRow<'_> = read.object(Some(raw), field).unwrap_or_default();
            Row { option: row.option.and_then(|raw| read.label(raw, field)), stock: stock(&row) }
        })
        .collect()
}

fn count(raw: Raw<'_>) -> Option<i32> {
    decimal::count(raw?.get())
}
