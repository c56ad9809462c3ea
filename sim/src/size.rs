//! Meaning of the option labels of `category` and `odd`, and of sizes in names: masses, volumes and doses.

/// A size in a name: its text, and the mass of the package that it states.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NamedSize {
    pub(crate) text: &'static str,
    pub(crate) mass: NamedMass,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum NamedMass {
    Mg(i64),
    /// A pack of which it does not say how many pieces it has.
    UnknownPack,
    None,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Size {
    Mg(i64),
    Ml(f64),
}

impl Size {
    pub(crate) fn mg(self) -> Option<i64> {
        if let Size::Mg(mg) = self { Some(mg) } else { None }
    }

    pub(crate) fn ml(self) -> Option<f64> {
        if let Size::Ml(ml) = self { Some(ml) } else { None }
    }
}

/// None = the label states no size. An ounce is the trade's 28 g.
pub(crate) fn stated(label: &str) -> Option<Size> {
    Some(match label {
        "1/8oz" | "1/8 oz" | "3.5 g" => Size::Mg(3500),
        "1/4oz" => Size::Mg(7000),
        "1/2oz" => Size::Mg(14_000),
        "1oz" | "1 Ounce" => Size::Mg(28_000),
        "2oz" => Size::Mg(56_000),
        "28.3g" => Size::Mg(28_300),
        ".5g" | "0.5g" | "500mg" => Size::Mg(500),
        ".33g" => Size::Mg(330),
        "1g" | "1gC" => Size::Mg(1000),
        "2gC" => Size::Mg(2000),
        "100mg" => Size::Mg(100),
        "0.5ml" => Size::Ml(0.5),
        "15mL" => Size::Ml(15.0),
        "30mL" => Size::Ml(30.0),
        "750ml" => Size::Ml(750.0),
        _ => return None,
    })
}

/// Milligrams of THC in a package of a dosed good with that label.
pub(crate) fn dose_mg(label: &str) -> Option<i64> {
    match label {
        "100mg" => Some(100),
        "500mg" => Some(500),
        "10pk 5mg" => Some(50),
        _ => None,
    }
}

/// The net weight: the label's own mass, or that of a pack of small ones where the label states none.
pub(crate) fn net_weight_mg(label: &str) -> i64 {
    const PACK_MG: i64 = 2500;
    match stated(label) {
        Some(Size::Mg(mg)) => mg,
        Some(Size::Ml(_)) | None => PACK_MG,
    }
}
