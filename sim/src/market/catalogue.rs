//! `Catalogue`: the true products of all makers, and which of them are near-twins.
//!
//! In: a seed, makers, a number of products. Out: products. Two products of a maker always differ by something that a
//! listing can state; a twin differs from its other by one thing alone. Knows nothing of stores.

use super::amounts::Amount;
use super::kinds::{CARTRIDGE, Family, KINDS, Kind, PACKS, Version, WHOLE_FLOWER};
use super::makers::Maker;
use super::names::Name;
use super::{Subject, draw_of, typing};
use crate::draw::Draw;

const TWIN_PERCENT: usize = 15;
/// A name that the maker has already, for goods of another kind.
const REUSED_PERCENT: u64 = 30;
const VERSION_PERCENT: u64 = 12;
/// Draws after which a product that is like another one is kept, or a twin given up.
const TRIES: u64 = 200;
const TWIN_TRIES: u64 = 10;
const STRAIN_TYPES: [&str; 6] = ["Indica", "Sativa", "Hybrid", "Hybrid", "Indica-Hybrid", "Sativa-Hybrid"];

#[derive(Clone, Debug)]
pub(super) struct Product {
    pub(super) maker: usize,
    /// Index in [`KINDS`].
    pub(super) kind: usize,
    pub(super) name: Name,
    /// The words of its name as a reader compares them.
    pub(super) folded_words: Vec<String>,
    pub(super) version: Option<Version>,
    /// Sizes of a piece, of which a listing has one or more. Empty where goods are counted.
    pub(super) sizes: &'static [Amount],
    pub(super) pack: u32,
    /// Milligrams of THC of a piece.
    pub(super) dose: Option<u32>,
    pub(super) strain_type: &'static str,
    /// 0 = as weak as its family gets, 1 = as strong.
    pub(super) potency: f64,
    pub(super) twin: Option<Twin>,
}

/// A near-twin: a product that is as another one but for one thing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Twin {
    /// Index of the product that was there first.
    pub of: usize,
    pub differs_by: Difference,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Difference {
    Maker,
    /// No size is of both.
    Sizes,
    Pack,
    /// Strength of a piece.
    Dose,
    Form,
    /// One may have none.
    Version,
    Word,
    Number,
}

const DIFFERENCES: [Difference; 8] = [
    Difference::Maker,
    Difference::Sizes,
    Difference::Pack,
    Difference::Dose,
    Difference::Form,
    Difference::Version,
    Difference::Word,
    Difference::Number,
];

pub(super) struct Catalogue {
    pub(super) products: Vec<Product>,
    of_maker: Vec<Vec<usize>>,
}

impl Catalogue {
    pub(super) fn new(seed: u64, makers: &[Maker], products: usize) -> Catalogue {
        let mut catalogue =
            Catalogue { products: Vec::with_capacity(products), of_maker: vec![Vec::new(); makers.len()] };
        let twins = products * TWIN_PERCENT / 100;
        for index in 0..products - twins {
            let mut draw = draw_of(seed, Subject::Product, &[index as u64]);
            let maker = if index < makers.len() { index } else { weighted(&mut draw, makers) };
            let product = catalogue.base(seed, &mut draw, maker, makers[maker].line);
            catalogue.add(product);
        }
        catalogue.add_twins(seed, twins);
        catalogue
    }

    pub(super) fn of_maker(&self, maker: usize) -> impl Iterator<Item = &Product> {
        self.of_maker[maker].iter().map(|index| &self.products[*index])
    }

    pub(super) fn twins(&self) -> usize {
        self.products.iter().filter(|product| product.twin.is_some()).count()
    }

    fn add(&mut self, mut product: Product) {
        product.folded_words = product.name.words.iter().map(|word| typing::folded(word)).collect();
        self.of_maker[product.maker].push(self.products.len());
        self.products.push(product);
    }

    fn base(&self, seed: u64, draw: &mut Draw, maker: usize, line: &[Family]) -> Product {
        let mut product = self.drawn(seed, draw, maker, line);
        for _ in 0..TRIES {
            if self.of_maker(maker).all(|other| other.kind != product.kind || !other.is_called_as(&product)) {
                break;
            }
            product = Product { name: Name::new(draw), ..product };
        }
        product
    }

    fn drawn(&self, seed: u64, draw: &mut Draw, maker: usize, line: &[Family]) -> Product {
        let family = *draw.pick(line);
        let pack = *draw.pick(family.packs());
        let doses = family.doses(pack);
        Product {
            maker,
            kind: kind_of(draw, family),
            name: self.name(seed, draw, maker, family),
            folded_words: Vec::new(),
            version: draw.percent(VERSION_PERCENT).then(|| *draw.pick(family.versions())),
            sizes: draw.pick::<&'static [Amount]>(family.size_sets(pack)),
            pack,
            dose: (!doses.is_empty()).then(|| *draw.pick(doses)),
            strain_type: draw.pick::<&str>(&STRAIN_TYPES),
            potency: draw.unit(),
            twin: None,
        }
    }

    fn name(&self, seed: u64, draw: &mut Draw, maker: usize, family: Family) -> Name {
        let own = &self.of_maker[maker];
        if !own.is_empty() && draw.percent(REUSED_PERCENT) {
            let other = &self.products[*draw.pick(own)];
            if other.family().has_flavour() == family.has_flavour() {
                return other.name.clone();
            }
        }
        Name::shared(seed, draw, family.has_flavour())
    }

    /// Each product is the other of one twin at most. Every difference is as frequent as the catalogue allows.
    fn add_twins(&mut self, seed: u64, twins: usize) {
        let mut bases: Vec<usize> = (0..self.products.len()).collect();
        draw_of(seed, Subject::Twin, &[]).shuffle(&mut bases);
        let mut is_used = vec![false; bases.len()];
        let mut untried = DIFFERENCES.map(|differs_by| (differs_by, bases.iter().copied()));
        for nth in 0..twins {
            let mut made = None;
            for step in 0..untried.len() {
                let (differs_by, bases) = &mut untried[(nth + step) % DIFFERENCES.len()];
                let mut free = bases.by_ref().filter(|of| !is_used[*of]);
                made = free.find_map(|of| self.twin(seed, of, *differs_by));
                if made.is_some() {
                    break;
                }
            }
            let Some(product) = made else { return };
            if let Some(twin) = product.twin {
                is_used[twin.of] = true;
            }
            self.add(product);
        }
    }

    fn twin(&self, seed: u64, of: usize, differs_by: Difference) -> Option<Product> {
        let mut draw = draw_of(seed, Subject::Twin, &[of as u64, differs_by as u64]);
        let base = &self.products[of];
        let changed = (0..TWIN_TRIES).filter_map(|_| self.changed(&mut draw, base, differs_by));
        let mut free = changed.filter(|twin| self.of_maker(twin.maker).all(|other| !other.is_like(twin)));
        Some(Product { twin: Some(Twin { of, differs_by }), ..free.next()? })
    }

    fn changed(&self, draw: &mut Draw, base: &Product, differs_by: Difference) -> Option<Product> {
        let mut twin = base.clone();
        let family = base.family();
        match differs_by {
            Difference::Maker => twin.maker = draw.below(self.of_maker.len() as u64) as usize,
            Difference::Sizes => twin.sizes = draw.pick::<&'static [Amount]>(family.size_sets(base.pack)),
            Difference::Pack => twin.pack = *draw.pick(family.packs()),
            Difference::Dose => {
                twin.dose = Some(*draw.pick(Some(family.doses(base.pack)).filter(|all| !all.is_empty())?))
            }
            Difference::Form => twin.kind = other_kind(draw, base),
            Difference::Version => twin.version = other_version(draw, base),
            Difference::Word => twin.name = base.name.with_other_word(draw)?,
            Difference::Number => twin.name = base.name.with_other_number(draw)?,
        }
        Some(twin)
    }
}

impl Product {
    pub(super) fn kind(&self) -> &'static Kind {
        &KINDS[self.kind]
    }

    pub(super) fn family(&self) -> Family {
        self.kind().family
    }

    pub(super) fn subcategory(&self) -> &'static str {
        match self.kind().subcategory {
            "singles" if self.pack > 1 => PACKS,
            subcategory => subcategory,
        }
    }

    /// Whether a piece or the package has this size or dose.
    pub(super) fn has(&self, amount: Amount) -> bool {
        let is_dose = |mg| self.dose.is_some_and(|each| each == mg || each * self.pack == mg);
        match amount {
            Amount::Mg(mg) => self.sizes.contains(&amount) || self.has_total(mg) || is_dose(mg),
            Amount::Ml(_) => self.sizes.contains(&amount),
        }
    }

    /// Whether the pieces of the package weigh as much together.
    pub(super) fn has_total(&self, mg: u32) -> bool {
        self.sizes.iter().any(|size| matches!(size, Amount::Mg(each) if each * self.pack == mg))
    }

    fn is_called_as(&self, other: &Product) -> bool {
        self.name.signature() == other.name.signature()
    }

    /// Whether a listing that has all may still be of either.
    fn is_like(&self, other: &Product) -> bool {
        let shares_size = self.sizes.is_empty() || self.sizes.iter().any(|size| other.sizes.contains(size));
        self.kind == other.kind
            && (self.version, self.pack, self.dose) == (other.version, other.pack, other.dose)
            && shares_size
            && self.is_called_as(other)
    }
}

fn weighted(draw: &mut Draw, makers: &[Maker]) -> usize {
    let mut left = draw.below(makers.iter().map(|maker| maker.weight).sum());
    let is_reached = |maker: &Maker| {
        let is_reached = left < maker.weight;
        left = left.saturating_sub(maker.weight);
        is_reached
    };
    makers.iter().position(is_reached).unwrap_or(0)
}

fn kind_of(draw: &mut Draw, family: Family) -> usize {
    let kinds = || (0..KINDS.len()).filter(|index| KINDS[*index].family == family);
    let mut left = draw.below(kinds().map(|index| KINDS[index].weight).sum());
    let is_reached = |index: &usize| {
        let is_reached = left < KINDS[*index].weight;
        left = left.saturating_sub(KINDS[*index].weight);
        is_reached
    };
    kinds().find(is_reached).unwrap_or(0)
}

/// Another kind of the family, or the strain's flower or cartridge where both weigh a gram.
fn other_kind(draw: &mut Draw, base: &Product) -> usize {
    let is_gram = base.sizes == [Amount::Mg(1000)] && base.version.is_none();
    match base.kind {
        CARTRIDGE if is_gram && draw.percent(50) => WHOLE_FLOWER,
        WHOLE_FLOWER if is_gram && draw.percent(50) => CARTRIDGE,
        _ => kind_of(draw, base.family()),
    }
}

fn other_version(draw: &mut Draw, base: &Product) -> Option<Version> {
    let version = *draw.pick(base.family().versions());
    if base.version.is_some() && draw.percent(50) { None } else { Some(version) }
}
