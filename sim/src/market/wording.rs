//! `Wording`: all that a store, or a chain, writes about a product.
//!
//! In: a product, its maker, a style. Out: the text of a listing's fields, and what they state. Knows no other product.

use domain::store::Platform;

use super::amounts::{self, Amount, Phrase};
use super::catalogue::Product;
use super::kinds::Family;
use super::makers::Maker;
use super::stated::Stated;
use super::style::{Slot, Style};
use super::written_name::WrittenName;
use super::{brands, platform_words, typing};
use crate::draw::Draw;

const NO_BRAND_PERCENT: u64 = 8;
/// Listings without the field whose name has the brand.
const BRAND_IN_NAME_INSTEAD_PERCENT: u64 = 76;
const WRONG_CATEGORY_PERCENT: u64 = 2;
const DROPPED_VERSION_PERCENT: u64 = 3;
const VAGUE_FORM_PERCENT: u64 = 12;
const EMOJI_PERCENT: u64 = 1;
const EMOJI: [&str; 4] = ["🌿", "🔥", "⭐", "🍓"];
/// Families that clerks confuse. Concentrates are not among them: their forms are words of cartridges, too.
const CONFUSED: [Family; 4] = [Family::Flower, Family::PreRoll, Family::Vaporizer, Family::Edible];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    None,
    /// Word of the family, not of the kind.
    Vague(&'static str),
    Exact(&'static str),
}

pub(super) struct Wording<'a> {
    product: &'a Product,
    platform: Platform,
    style: Style,
    pub(super) brand: Option<String>,
    brand_in_name: Option<String>,
    name: WrittenName,
    version: Option<&'static str>,
    form: Form,
    carried: Vec<Amount>,
    amounts: Option<Phrase>,
    pub(super) options: Vec<Phrase>,
    strain: Option<String>,
    /// The family as its category says, which may be wrong.
    family: Family,
    has_subcategory: bool,
    emoji: Option<&'static str>,
}

impl<'a> Wording<'a> {
    pub(super) fn of(
        draw: &mut Draw,
        platform: Platform,
        style: &Style,
        product: &'a Product,
        maker: &Maker,
    ) -> Wording<'a> {
        let mut style = style.clone();
        style.deviate(draw);
        let brand = (!draw.percent(NO_BRAND_PERCENT))
            .then(|| brands::in_field(draw, style.brand, maker, product.kind().forms[0]));
        let in_name = if brand.is_some() { style.brand_in_name } else { BRAND_IN_NAME_INSTEAD_PERCENT };
        let carried = carried(draw, product.sizes);
        let options = amounts::options(draw, platform, product, &carried);
        let states_size = options.iter().any(|option| !option.facts.is_empty());
        let amounts_percent = if states_size { style.amounts_in_name } else { 90 };
        let (family, form) = (family(draw, product), form(draw, &style, product));
        let is_right = family == product.family();
        Wording {
            product,
            platform,
            brand,
            brand_in_name: draw.percent(in_name).then(|| brands::in_name(draw, style.brand, maker)),
            name: WrittenName::of(draw, &product.name),
            version: product.version.filter(|_| !draw.percent(DROPPED_VERSION_PERCENT)).map(|all| *draw.pick(all)),
            form: if is_right { form } else { Form::Exact(draw.pick::<&str>(product.kind().forms)) },
            amounts: draw
                .percent(amounts_percent)
                .then(|| amounts::in_name(draw, &style, product, &carried, false))
                .flatten(),
            carried,
            options,
            strain: draw.percent(style.strain_in_name).then(|| strain(&style, product)).flatten(),
            family,
            has_subcategory: is_right && draw.percent(style.subcategory),
            emoji: draw.percent(EMOJI_PERCENT).then(|| *draw.pick(&EMOJI)),
            style,
        }
    }

    /// A clerk who sees that two products would look alike writes all in the name.
    pub(super) fn state_all(&mut self, draw: &mut Draw) {
        self.name = WrittenName::right(&self.product.name);
        self.version = self.product.version.map(|all| all[0]);
        self.form = Form::Exact(draw.pick::<&str>(self.product.kind().forms));
        if let Some(amounts) = amounts::in_name(draw, &self.style, self.product, &self.carried, true) {
            self.amounts = Some(amounts);
        }
    }

    pub(super) fn states_brand(&self) -> bool {
        self.brand.is_some() || self.brand_in_name.is_some()
    }

    pub(super) fn states_thc_per_piece(&self) -> bool {
        self.style.states_thc_per_piece
    }

    pub(super) fn category(&self) -> &'static str {
        platform_words::category(self.platform, self.family)
    }

    pub(super) fn subcategory(&self) -> Option<String> {
        self.has_subcategory.then(|| platform_words::subcategory(self.platform, self.product.subcategory()))
    }

    pub(super) fn stated(&self, options: &[Phrase], thc_mg: Option<f64>) -> Stated<'_> {
        let phrases = self.amounts.iter().chain(options);
        Stated {
            platform: self.platform,
            has_brand: self.states_brand(),
            name: &self.name,
            folded_words: self.name.words.iter().flatten().map(|word| typing::folded(word)).collect(),
            version: self.product.version.filter(|_| self.version.is_some()),
            kind: matches!(self.form, Form::Exact(_)).then_some(self.product.kind),
            family: Some(self.family).filter(|family| *family == self.product.family()),
            subcategory: self.has_subcategory.then(|| self.product.subcategory()),
            facts: phrases.flat_map(|phrase| phrase.facts.iter().copied()).collect(),
            thc_mg,
        }
    }

    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        let mut last = None;
        for (slot, part) in self.style.order.iter().filter_map(|slot| Some((*slot, self.part(*slot)?))) {
            text.push_str(last.map_or("", |last| self.between(last, slot)));
            text.push_str(&part);
            last = Some(slot);
        }
        let text = self.style.case.apply(text);
        match self.emoji {
            Some(emoji) => format!("{text} {emoji}"),
            None => text,
        }
    }

    fn part(&self, slot: Slot) -> Option<String> {
        match slot {
            Slot::Brand => self.brand_in_name.clone(),
            Slot::Title => {
                let name = self.name.text();
                Some(self.version.map_or_else(|| name.clone(), |version| format!("{name} {version}")))
            }
            Slot::Form => match self.form {
                Form::None => None,
                Form::Vague(form) | Form::Exact(form) => Some(form.to_owned()),
            },
            Slot::Amounts => {
                let text = &self.amounts.as_ref()?.text;
                Some(self.style.brackets.map_or_else(|| text.clone(), |[open, close]| format!("{open}{text}{close}")))
            }
            Slot::Strain => self.strain.clone(),
        }
    }

    fn between(&self, last: Slot, next: Slot) -> &'static str {
        let is_bracketed = |slot| match slot {
            Slot::Amounts => self.style.brackets.is_some(),
            Slot::Strain => self.style.has_short_strains,
            _ => false,
        };
        let is_apart = |slot| matches!(slot, Slot::Brand | Slot::Amounts);
        match is_apart(last) || is_apart(next) || self.style.is_wide {
            true if !is_bracketed(next) => self.style.separator,
            _ => " ",
        }
    }
}

/// The sizes that a store has of the product: all, some, or one.
fn carried(draw: &mut Draw, sizes: &[Amount]) -> Vec<Amount> {
    if sizes.len() < 2 || draw.percent(50) {
        return sizes.to_vec();
    }
    if draw.percent(60) {
        return vec![*draw.pick(sizes)];
    }
    sizes[usize::from(draw.percent(50))..].to_vec()
}

fn family(draw: &mut Draw, product: &Product) -> Family {
    let own = product.family();
    if !draw.percent(WRONG_CATEGORY_PERCENT) || !CONFUSED.contains(&own) {
        return own;
    }
    let others = [Family::Flower, Family::PreRoll, Family::Vaporizer, Family::Concentrate, Family::Edible];
    *draw.pick(&others)
}

fn form(draw: &mut Draw, style: &Style, product: &Product) -> Form {
    if !draw.percent(style.form_in_name) {
        return Form::None;
    }
    match product.family().vague_form() {
        Some(vague) if draw.percent(VAGUE_FORM_PERCENT) => Form::Vague(vague),
        _ => Form::Exact(draw.pick::<&str>(product.kind().forms)),
    }
}

/// None for goods that are named after flavours.
fn strain(style: &Style, product: &Product) -> Option<String> {
    if product.family().has_flavour() || product.family() == Family::Accessory {
        return None;
    }
    Some(match (style.has_short_strains, product.strain_type) {
        (false, whole) => whole.to_owned(),
        (true, "Indica") => "(I)".to_owned(),
        (true, "Sativa") => "(S)".to_owned(),
        (true, "Hybrid") => "(H)".to_owned(),
        (true, whole) => format!("({whole})"),
    })
}
