//! How a store lists a product: its style, and the deviations of each listing from it.

use super::goods::{Fact, Goods, Kind};
use super::maker::Maker;
use super::typing;
use super::{Listing, Thc, Truth};
use crate::draw::Draw;
use domain::menu::product::PotencyUnit;
use domain::store::Platform;

const SEPARATORS: [&str; 6] = [" | ", " - ", " ", " ", ": ", " · "];

/// The habits of a store.
#[derive(Clone, Debug)]
pub(super) struct Style {
    separator: &'static str,
    has_brand_in_front: bool,
    names_form: bool,
    names_size: bool,
    has_sizes_in_options: bool,
}

impl Style {
    pub(super) fn draw(draw: &mut Draw) -> Style {
        let separator = draw.pick::<&str>(&SEPARATORS);
        let has_brand_in_front = draw.percent(30);
        let (names_form, names_size) = (draw.percent(65), draw.percent(50));
        let has_sizes_in_options = !names_size || draw.percent(70);
        Style { separator, has_brand_in_front, names_form, names_size, has_sizes_in_options }
    }

    /// The style with the deviations of one listing.
    fn deviating(&self, draw: &mut Draw) -> Style {
        let mut style = self.clone();
        if draw.percent(10) {
            style.separator = draw.pick::<&str>(&SEPARATORS);
        }
        if draw.percent(10) {
            style.has_brand_in_front = !style.has_brand_in_front;
        }
        if draw.percent(10) {
            style.names_form = !style.names_form;
        }
        if draw.percent(8) {
            style.names_size = !style.names_size;
        }
        style
    }
}

/// The listing without its store, product and maker.
pub(super) fn listing(draw: &mut Draw, style: &Style, platform: Platform, goods: &Goods, maker: &Maker) -> Listing {
    let style = style.deviating(draw);
    let (form, subcategory) = goods.kind.forms()[goods.form];
    let has_brand = !draw.percent(8);
    let brand = has_brand.then(|| maker.spelled(draw, form));
    let has_subcategory = draw.percent(60);
    let is_wrong_category = draw.percent(2);
    let is_brand_named = style.has_brand_in_front || !has_brand && draw.percent(65);
    let core = core(draw, goods);
    let mut parts = Vec::new();
    let front = is_brand_named.then(|| if draw.percent(70) { maker.name.clone() } else { maker.whole.clone() });
    let is_behind = front.is_some() && draw.percent(12);
    parts.extend(front.clone().filter(|_| !is_behind));
    parts.push(core);
    // a version is always a part of the name
    parts.extend(goods.version.map(str::to_owned));
    if style.names_form {
        parts.push(spelled_form(draw, form));
    }
    let amount = amounts(draw, &style, goods);
    parts.extend(amount.named);
    if draw.percent(14) {
        parts.push(strain(draw, goods.strain_type));
    }
    parts.extend(front.filter(|_| is_behind));
    let joined = parts.join(style.separator);
    let name = typing::case(draw, joined);
    let is_form_known = style.names_form || has_subcategory && !is_wrong_category;
    let is_known = match goods.differs_in {
        Some(Fact::Form) => is_form_known,
        Some(Fact::Sizes) => amount.has_size,
        Some(Fact::Pack) => amount.has_pack,
        Some(Fact::Strength) => amount.has_strength,
        Some(Fact::Maker | Fact::Version | Fact::Word) | None => true,
    };
    let is_kind_known = !is_wrong_category || style.names_form;
    Listing {
        store: 0,
        platform,
        truth: Truth { product: 0, maker: 0, is_decidable: (has_brand || is_brand_named) && is_known && is_kind_known },
        name: if draw.percent(2) { format!("{name} 🌿") } else { name },
        brand_id: brand
            .as_ref()
            .filter(|_| platform != Platform::Leafly && draw.percent(70))
            .map(|_| format!("{platform}-{}", maker.id)),
        brand,
        category: category(platform, if is_wrong_category { wrong(goods.kind) } else { goods.kind }).to_owned(),
        subcategory: (has_subcategory && !is_wrong_category).then(|| subcategory.to_owned()),
        strain_type: draw.percent(70).then(|| goods.strain_type.to_owned()),
        enterprise_product_id: None,
        options: amount.options,
        thc: amount.thc,
    }
}

/// The words of its own name.
fn core(draw: &mut Draw, goods: &Goods) -> String {
    let plain = if draw.percent(20) { goods.name.replace('ñ', "n").replace('è', "e") } else { goods.name.clone() };
    match draw.below(100) {
        0..6 => typing::mistake(draw, &plain),
        6..11 => typing::abbreviated(draw, &plain),
        11..13 => plain.replacen(' ', "-", 1),
        13..15 => format!("{plain}™"),
        _ => plain,
    }
}

fn spelled_form(draw: &mut Draw, form: &'static str) -> String {
    let spelled: &[&str] = match form {
        "Flower" => &["Flower", "Flower", "Whole Flower", "Buds"],
        "Smalls" => &["Smalls", "Small Buds", "Popcorn"],
        "Pre-Roll" => &["Pre-Roll", "Preroll", "Pre Roll", "Joint", "PR"],
        "Cartridge" => &["Cartridge", "Cart", "510 Cart", "Vape Cartridge"],
        "Disposable" => &["Disposable", "All-in-One", "AIO", "Disposable Vape"],
        "Gummies" => &["Gummies", "Gummy", "Gummies"],
        "Chocolate" => &["Chocolate", "Chocolate Bar", "Chocolates"],
        "Badder" => &["Badder", "Batter", "Budder"],
        "Diamonds" => &["Diamonds", "Diamond"],
        _ => return form.to_owned(),
    };
    (*draw.pick(spelled)).to_owned()
}

fn strain(draw: &mut Draw, strain_type: &str) -> String {
    match (draw.below(3), strain_type) {
        (0, "Indica") => "(I)".to_owned(),
        (0, "Sativa") => "(S)".to_owned(),
        (0, _) if !strain_type.contains('-') => "(H)".to_owned(),
        (1, _) => format!("[{strain_type}]"),
        _ => strain_type.to_owned(),
    }
}

struct Amounts {
    named: Vec<String>,
    options: Vec<String>,
    thc: Option<Thc>,
    has_size: bool,
    has_pack: bool,
    has_strength: bool,
}

fn amounts(draw: &mut Draw, style: &Style, goods: &Goods) -> Amounts {
    match goods.kind {
        Kind::Edible => edible(draw, style, goods),
        Kind::PreRoll => roll(draw, style, goods),
        _ => weighed(draw, style, goods),
    }
}

/// Several sizes are options; one may be in the name.
fn weighed(draw: &mut Draw, style: &Style, goods: &Goods) -> Amounts {
    let mut sizes = goods.sizes.clone();
    if sizes.len() > 1 && draw.percent(35) {
        sizes.remove(draw.below(sizes.len() as u64) as usize);
    }
    let is_named = sizes.len() == 1 && (style.names_size || !style.has_sizes_in_options && draw.percent(90));
    let has_options = sizes.len() > 1 || style.has_sizes_in_options;
    let mut named: Vec<String> = is_named.then(|| size(draw, goods.kind, sizes[0])).into_iter().collect();
    let options = match has_options {
        true => sizes.iter().map(|mg| label(draw, goods.kind, *mg)).collect(),
        false => vec![(*draw.pick(&["N/A", "each"])).to_owned()],
    };
    let is_strong = goods.kind == Kind::Tincture;
    let says_strength = is_strong && draw.percent(70);
    named.extend(says_strength.then(|| format!("{}mg", goods.strength)));
    let thc = match goods.kind {
        Kind::Tincture => draw.percent(60).then(|| milligrams(goods.strength)),
        Kind::Flower => percent(draw, 16.0, 30.0),
        _ => percent(draw, 68.0, 90.0),
    };
    let has_strength = says_strength || thc.is_some();
    Amounts { named, options, thc, has_size: is_named || has_options, has_pack: true, has_strength }
}

fn roll(draw: &mut Draw, style: &Style, goods: &Goods) -> Amounts {
    let piece = goods.sizes[0];
    let is_pack = goods.pack > 1;
    let says_pack = is_pack && (style.names_size || draw.percent(75));
    let grams = size(draw, goods.kind, piece);
    let named: Vec<String> = match (says_pack, style.names_size) {
        (true, true) => match draw.below(3) {
            0 => vec![format!("{}pk", goods.pack), grams],
            1 => vec![format!("{} x {grams}", goods.pack)],
            _ => vec![grams, format!("({}-pack)", goods.pack)],
        },
        (true, false) => vec![format!("{} Pack", goods.pack)],
        (false, true) => vec![grams],
        (false, false) => Vec::new(),
    };
    let has_options = style.has_sizes_in_options;
    let options = match draw.below(3) {
        _ if !has_options => vec!["N/A".to_owned()],
        0 if is_pack => vec![label(draw, goods.kind, piece * goods.pack)],
        1 if is_pack => vec![format!("{}pk", goods.pack)],
        _ => vec![label(draw, goods.kind, piece)],
    };
    let is_count = options[0].ends_with("pk");
    let has_size = style.names_size || has_options && !is_count;
    let has_pack = !is_pack || says_pack || is_count;
    Amounts { named, options, thc: percent(draw, 16.0, 32.0), has_size, has_pack, has_strength: true }
}

fn edible(draw: &mut Draw, style: &Style, goods: &Goods) -> Amounts {
    let piece = goods.strength / goods.pack;
    let says_pack = goods.pack > 1 && draw.percent(60);
    let named: Vec<String> = match (style.names_size, says_pack) {
        (true, true) => match draw.below(4) {
            0 => vec![format!("{}mg", goods.strength), format!("{}pk", goods.pack)],
            1 => vec![format!("{piece}mg x {}", goods.pack)],
            2 => vec![format!("{piece}mg"), format!("{}pk", goods.pack)],
            _ => vec![format!("[{}pk] {}mg", goods.pack, goods.strength)],
        },
        (true, false) => vec![format!("{}mg", goods.strength)],
        (false, true) => vec![format!("{} pieces", goods.pack)],
        (false, false) => Vec::new(),
    };
    let has_options = style.has_sizes_in_options && draw.percent(80);
    let options = vec![if has_options { format!("{}mg", goods.strength) } else { "N/A".to_owned() }];
    let thc = draw.percent(50).then(|| milligrams(goods.strength));
    let has_strength = style.names_size || has_options || thc.is_some();
    Amounts { named, options, thc, has_size: true, has_pack: says_pack, has_strength }
}

fn milligrams(value: u32) -> Thc {
    Thc { value: f64::from(value), unit: PotencyUnit::Milligrams }
}

fn percent(draw: &mut Draw, low: f64, high: f64) -> Option<Thc> {
    let value = ((low + draw.unit() * (high - low)) * 10.0).round() / 10.0;
    draw.percent(75).then_some(Thc { value, unit: PotencyUnit::Percentage })
}

/// A size in a name.
fn size(draw: &mut Draw, kind: Kind, amount: u32) -> String {
    if kind == Kind::Tincture {
        return format!("{amount}ml");
    }
    let grams = format!("{}", f64::from(amount) / 1000.0);
    match (amount, draw.below(6)) {
        (3500, 0) => "1/8 oz".to_owned(),
        (3500, 1) => "1/8th".to_owned(),
        (7000, 0) => "1/4oz".to_owned(),
        (14_000, 0) => "1/2 oz".to_owned(),
        (28_000, 0) => "1oz".to_owned(),
        (500 | 750, 0) => format!("{amount}mg"),
        (_, 1) => format!("[{grams}g]"),
        (_, 2) => format!("{grams} G"),
        (..1000, 3) => format!("{}g", grams.trim_start_matches('0')),
        _ => format!("{grams}g"),
    }
}

/// The label of an option.
fn label(draw: &mut Draw, kind: Kind, amount: u32) -> String {
    match (kind, amount) {
        (Kind::Tincture, _) => format!("{amount}mL"),
        (Kind::Concentrate, _) if draw.percent(40) => format!("{}gC", f64::from(amount) / 1000.0),
        (_, 3500) if draw.percent(50) => "1/8oz".to_owned(),
        (_, 7000) if draw.percent(50) => "1/4oz".to_owned(),
        (_, 14_000) if draw.percent(50) => "1/2oz".to_owned(),
        (_, 28_000) if draw.percent(50) => "1oz".to_owned(),
        (_, 500) if draw.percent(50) => ".5g".to_owned(),
        _ => format!("{}g", f64::from(amount) / 1000.0),
    }
}

fn category(platform: Platform, kind: Kind) -> &'static str {
    let is_dutchie = platform == Platform::Dutchie;
    match kind {
        Kind::Flower => "Flower",
        Kind::PreRoll if is_dutchie => "Pre-Rolls",
        Kind::PreRoll => "Pre-Roll",
        Kind::Vape if is_dutchie => "Vaporizers",
        Kind::Vape => "Vape Pens",
        Kind::Concentrate if is_dutchie => "Concentrate",
        Kind::Concentrate => "Concentrates",
        Kind::Edible if is_dutchie => "Edible",
        Kind::Edible => "Edibles",
        Kind::Tincture => "Tincture",
    }
}

fn wrong(kind: Kind) -> Kind {
    match kind {
        Kind::Flower => Kind::PreRoll,
        Kind::PreRoll => Kind::Flower,
        Kind::Vape => Kind::Concentrate,
        Kind::Concentrate => Kind::Vape,
        Kind::Edible => Kind::Tincture,
        Kind::Tincture => Kind::Edible,
    }
}
