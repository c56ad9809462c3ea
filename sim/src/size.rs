//! Meaning of the option labels of `category`: masses and volumes.

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Size {
    Mg(i64),
    Ml(f64),
}

/// None = the label states no size. An ounce is the trade's 28 g.
pub(crate) fn stated(label: &str) -> Option<Size> {
    Some(match label {
        "1/8oz" => Size::Mg(3500),
        "1/4oz" => Size::Mg(7000),
        "1/2oz" => Size::Mg(14_000),
        "1oz" => Size::Mg(28_000),
        "28.3g" => Size::Mg(28_300),
        ".5g" | "0.5g" => Size::Mg(500),
        "1g" | "1gC" => Size::Mg(1000),
        "2gC" => Size::Mg(2000),
        "100mg" => Size::Mg(100),
        "15mL" => Size::Ml(15.0),
        "30mL" => Size::Ml(30.0),
        _ => return None,
    })
}

/// The net weight: the label's own mass, or that of a pack of small ones where the label states none.
pub(crate) fn net_weight_mg(label: &str) -> i64 {
    const PACK_MG: i64 = 2500;
    match stated(label) {
        Some(Size::Mg(mg)) => mg,
        Some(Size::Ml(_)) | None => PACK_MG,
    }
}
