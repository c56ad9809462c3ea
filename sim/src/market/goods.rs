//! `Goods`: a true product, and the catalogues of the makers.

use std::collections::HashMap;

use super::maker::Maker;
use super::names::{FIRST, SECOND, THIRD};
use crate::draw::{Draw, Topic};

/// Number of makers' products of which one has a near-twin.
const PER_TWIN: usize = 7;
const STRAIN_TYPES: [&str; 5] = ["Indica", "Sativa", "Hybrid", "Indica-Hybrid", "Sativa-Hybrid"];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    Flower,
    PreRoll,
    Vape,
    Concentrate,
    Edible,
    Tincture,
}

/// The fact by which a product differs from its near-twin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fact {
    Maker,
    Sizes,
    Pack,
    Strength,
    Form,
    Version,
    Word,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Goods {
    pub(super) maker: usize,
    pub(super) kind: Kind,
    pub(super) name: String,
    /// Index of [`Kind::forms`].
    pub(super) form: usize,
    /// Milligrams; millilitres of tinctures.
    pub(super) sizes: Vec<u32>,
    pub(super) pack: u32,
    /// Milligrams of THC of the package; 0 = of no interest.
    pub(super) strength: u32,
    pub(super) version: Option<&'static str>,
    pub(super) strain_type: &'static str,
    /// None: there is no near-twin of it.
    pub(super) differs_in: Option<Fact>,
}

impl Kind {
    /// Names of its forms as they are added to a product's name, each with the platform's subcategory.
    pub(super) fn forms(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Kind::Flower => &[("Flower", "whole-flower"), ("Smalls", "small-buds"), ("Ground", "ground")],
            Kind::PreRoll => &[("Pre-Roll", "pre-rolls"), ("Blunt", "blunts")],
            Kind::Vape => &[("Cartridge", "cartridges"), ("Disposable", "disposables"), ("Pod", "pods")],
            Kind::Concentrate => &[
                ("Sugar", "sugar"),
                ("Badder", "badder"),
                ("Shatter", "shatter"),
                ("Rosin", "rosin"),
                ("Diamonds", "diamonds"),
            ],
            Kind::Edible => {
                &[("Gummies", "gummies"), ("Chocolate", "chocolates"), ("Mints", "mints"), ("Troches", "troches")]
            }
            Kind::Tincture => &[("Tincture", "tinctures")],
        }
    }

    fn sizes(self) -> &'static [&'static [u32]] {
        match self {
            Kind::Flower => {
                &[&[3500], &[3500, 7000], &[1000, 3500], &[3500, 7000, 14_000, 28_000], &[14_000], &[28_000]]
            }
            Kind::PreRoll => &[&[1000], &[500], &[750]],
            Kind::Vape => &[&[500], &[1000], &[500, 1000], &[2000]],
            Kind::Concentrate => &[&[1000], &[2000], &[1000, 2000], &[500]],
            Kind::Edible => &[],
            Kind::Tincture => &[&[15], &[30], &[60]],
        }
    }

    fn packs(self) -> &'static [u32] {
        match self {
            Kind::PreRoll => &[1, 1, 1, 2, 5, 10],
            Kind::Edible => &[10, 10, 20, 5, 1],
            _ => &[1],
        }
    }

    fn strengths(self) -> &'static [u32] {
        match self {
            Kind::Edible => &[100, 100, 50, 200, 500],
            Kind::Tincture => &[300, 600, 1000],
            _ => &[0],
        }
    }
}

/// The catalogues of all makers, in no order.
pub(super) fn all(seed: u64, makers: &[Maker], number: usize) -> Vec<Goods> {
    let mut goods: Vec<Goods> = Vec::with_capacity(number);
    let mut same_name: HashMap<(usize, Kind, String), Vec<usize>> = HashMap::new();
    let mut nth = 0;
    while goods.len() < number {
        let mut draw = Draw::of(seed, Topic::Market, &[6, nth]);
        nth += 1;
        let is_twin = goods.len() > 10 && draw.below(PER_TWIN as u64) == 0;
        let of = draw.below(goods.len().max(1) as u64) as usize;
        let made = if is_twin { twin(&mut draw, &goods[of], makers.len()) } else { Some(new(&mut draw, makers.len())) };
        let Some(made) = made else { continue };
        let named = same_name.entry((made.maker, made.kind, made.name.clone())).or_default();
        if named.iter().any(|at| is_too_near(&made, &goods[*at])) {
            continue;
        }
        named.push(goods.len());
        if let Some(fact) = made.differs_in {
            goods[of].differs_in = Some(fact);
        }
        goods.push(made);
    }
    Draw::of(seed, Topic::Market, &[7]).shuffle(&mut goods);
    goods
}

fn new(draw: &mut Draw, makers: usize) -> Goods {
    let kind = *draw.pick(&[
        Kind::Flower,
        Kind::Flower,
        Kind::Flower,
        Kind::PreRoll,
        Kind::PreRoll,
        Kind::Vape,
        Kind::Vape,
        Kind::Concentrate,
        Kind::Concentrate,
        Kind::Edible,
        Kind::Edible,
        Kind::Tincture,
    ]);
    let skew = draw.unit();
    Goods {
        maker: (skew * skew * makers as f64) as usize,
        kind,
        name: name(draw),
        form: draw.below(kind.forms().len() as u64) as usize,
        sizes: if kind.sizes().is_empty() { Vec::new() } else { draw.pick(kind.sizes()).to_vec() },
        pack: *draw.pick(kind.packs()),
        strength: *draw.pick(kind.strengths()),
        version: version(draw, kind),
        strain_type: draw.pick::<&str>(&STRAIN_TYPES),
        differs_in: None,
    }
}

fn version(draw: &mut Draw, kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Vape | Kind::Concentrate if draw.percent(30) => Some("Live"),
        _ => draw.percent(5).then(|| *draw.pick(&["V2", "Reserve", "Infused"])),
    }
}

fn name(draw: &mut Draw) -> String {
    let (first, second) = (draw.pick(&FIRST), draw.pick(&SECOND));
    match draw.below(100) {
        0..70 => format!("{first} {second}"),
        70..82 => format!("{first} {second} {}", draw.pick(&THIRD)),
        82..92 => format!("{second} {}", draw.between(11, 99)),
        _ => format!("{first} {second} x {} {}", draw.pick(&FIRST), draw.pick(&SECOND)),
    }
}

/// Another product in which one fact alone is different; none where it has no such fact.
fn twin(draw: &mut Draw, of: &Goods, makers: usize) -> Option<Goods> {
    let fact =
        *draw.pick(&[Fact::Maker, Fact::Sizes, Fact::Pack, Fact::Strength, Fact::Form, Fact::Version, Fact::Word]);
    let mut twin = Goods { differs_in: Some(fact), ..of.clone() };
    match fact {
        Fact::Maker => twin.maker = draw.below(makers as u64) as usize,
        Fact::Sizes => twin.sizes = draw.pick(Some(of.kind.sizes()).filter(|sizes| !sizes.is_empty())?).to_vec(),
        Fact::Pack => twin.pack = *draw.pick(of.kind.packs()),
        Fact::Strength => twin.strength = *draw.pick(of.kind.strengths()),
        Fact::Form => twin.form = draw.below(of.kind.forms().len() as u64) as usize,
        Fact::Version => twin.version = Some(*draw.pick(&["V2", "Reserve", "Live"])),
        Fact::Word => twin.name = other_word(draw, &of.name),
    }
    let is_shared = fact == Fact::Sizes && twin.sizes.iter().any(|size| of.sizes.contains(size));
    (of.differs_in.is_none() && !is_shared && twin != Goods { differs_in: Some(fact), ..of.clone() }).then_some(twin)
}

fn other_word(draw: &mut Draw, name: &str) -> String {
    let (rest, last) = name.rsplit_once(' ').unwrap_or(("", name));
    match last.parse::<u64>() {
        Ok(number) => format!("{rest} {}", number / 2 + 10),
        Err(_) => format!("{rest} {}", draw.pick(&SECOND)),
    }
}

/// Whether no listing could tell two products of one name apart, or one differs by mistake in several facts of a twin.
fn is_too_near(one: &Goods, other: &Goods) -> bool {
    let differences = [
        one.sizes != other.sizes,
        one.pack != other.pack,
        one.strength != other.strength,
        one.form != other.form,
        one.version != other.version,
    ];
    let number = differences.iter().filter(|differs| **differs).count();
    // a second relative makes the first fact no longer the only one
    number != 1 || one.differs_in.is_none()
}
