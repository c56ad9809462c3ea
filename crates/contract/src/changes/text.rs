//! A change in words, for mails, messages and terminals.

use super::ChangeView;
use domain::amounts::money;
use domain::menu::changes::{ChangeKind, ChangeSide};
use domain::vocabulary::Word;

/// `Banjo Kush (Granite) 1g: $20.00 to $15.00 (-25 %)`.
pub fn text(change: &ChangeView) -> String {
    let product = change.product.as_deref().unwrap_or("a product that was deleted");
    let brand = change.brand.as_ref().map(|brand| format!(" ({brand})")).unwrap_or_default();
    let option = change.option.as_ref().map(|option| format!(" {}", option.label)).unwrap_or_default();
    format!("{product}{brand}{option}: {}", values(change))
}

fn values(change: &ChangeView) -> String {
    let none = ChangeSide::default();
    let (old, new) = (change.old.as_ref().unwrap_or(&none), change.new.as_ref().unwrap_or(&none));
    let Word::Known(kind) = change.kind else { return change.kind.to_string() };
    match kind {
        ChangeKind::PriceDrop | ChangeKind::PriceRise => {
            let is_rec = change.cents.is_some() && change.cents == old.rec.zip(new.rec).map(|(old, new)| new - old);
            let price = |side: &ChangeSide| cents(if is_rec { side.rec } else { side.med });
            let percent = change.percent.map(|percent| format!(" ({percent:+} %)")).unwrap_or_default();
            format!("{} to {}{percent}", price(old), price(new))
        }
        ChangeKind::SpecialStart => {
            format!("special, {} instead of {}", cents(new.special_rec.or(new.special_med)), regular(new))
        }
        ChangeKind::SpecialEnd => format!("special ended, {}", regular(new)),
        ChangeKind::SoldOut => "sold out".to_owned(),
        ChangeKind::Restocked => "restocked".to_owned(),
        ChangeKind::LowStock => match new.quantity {
            Some(quantity) => format!("{quantity} left"),
            None => "few left".to_owned(),
        },
        ChangeKind::New => "new".to_owned(),
        ChangeKind::Gone => "gone".to_owned(),
        ChangeKind::Returned => "back".to_owned(),
    }
}

fn regular(side: &ChangeSide) -> String {
    cents(side.rec.or(side.med))
}

fn cents(price: Option<i32>) -> String {
    price.map_or("no price".to_owned(), money)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    #[rstest]
    #[case::a_drop("price_drop", json!({"rec": 2000}), json!({"rec": 1500}), Some((-500, -25.0)), "$20.00 to $15.00 (-25 %)")]
    #[case::of_a_medical_price("price_rise", json!({"med": 1000}), json!({"med": 1125}), Some((125, 12.5)), "$10.00 to $11.25 (+12.5 %)")]
    #[case::a_special("special_start", json!({"rec": 2000}), json!({"rec": 2000, "special_rec": 1500}), None, "special, $15.00 instead of $20.00")]
    #[case::no_special("special_end", json!({"rec": 2000, "special_rec": 1500}), json!({"rec": 2000}), None, "special ended, $20.00")]
    #[case::few("low_stock", json!({"quantity": 9}), json!({"quantity": 2}), None, "2 left")]
    #[case::sold_out("sold_out", json!(null), json!(null), None, "sold out")]
    #[case::of_a_newer_program("recalled", json!(null), json!(null), None, "recalled")]
    fn a_change_is_a_sentence(
        #[case] kind: &str,
        #[case] old: Value,
        #[case] new: Value,
        #[case] size: Option<(i32, f64)>,
        #[case] expected: &str,
    ) {
        let change = json!({"cursor": "", "kind": kind, "store_id": 1, "store": "North", "product_id": 2, "product": "Kush",
            "brand": "Granite", "category": null, "option": {"label": "1g", "nth": 0}, "old": old, "new": new,
            "cents": size.map(|size| size.0), "percent": size.map(|size| size.1), "crawled_at": "2025-01-10T08:00:00Z", "text": ""});
        let change: ChangeView = serde_json::from_value(change).unwrap();
        assert_eq!(text(&change), format!("Kush (Granite) 1g: {expected}"));
    }
}
