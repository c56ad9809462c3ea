//! `Comparison`: how much says that two profiles are one product. In: their profiles. Out: bits of evidence; none where a difference makes
//! them two products whatever else is the same.

use super::evidence::Evidence;
use super::likeness::{Level, Likeness};
use super::profile::{Profile, Size, is_same_strength};
use super::rules::{Rules, SameOrOther};
use super::words::{Vocabulary, WordId};

/// Maximum mass of a single piece: a greater one is that of a pack.
const MAX_PIECE_MG: u32 = 1_500;

/// The rules, and the words of all names.
#[derive(Clone, Copy)]
pub(super) struct Measure<'r> {
    pub rules: &'r Rules,
    pub vocabulary: &'r Vocabulary,
    /// Number of names that the vocabulary has counted.
    pub names: u32,
}

pub(super) struct Comparison {
    pub bits: f64,
    likeness: Likeness,
    sizes: Option<Sharing>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sharing {
    Same,
    /// One states the mass of a piece, and the other that of the pack.
    Whole,
    Shared,
    Other,
}

impl Comparison {
    /// None: they have a difference that no likeness makes up for.
    pub fn new(one: &Profile, other: &Profile, measure: Measure<'_>) -> Option<Comparison> {
        (!are_different(one, other)).then(|| Comparison::of_facts(one, other, measure))
    }

    /// Compares without regard to such differences, where a person says that they are one.
    pub fn of_facts(one: &Profile, other: &Profile, measure: Measure<'_>) -> Comparison {
        let weights = measure.rules.weights();
        let likeness = Likeness::new(one, other, measure.vocabulary, measure.names);
        let sizes = sharing(one, other);
        let name = match likeness.level {
            Level::Same => weights.name.same,
            Level::Close => weights.name.close,
            Level::Alike => weights.name.alike,
            Level::Weak => weights.name.weak,
            Level::Other => weights.name.other,
            Level::None => weights.name.none,
        };
        let size = match sizes {
            Some(Sharing::Same | Sharing::Whole) => weights.size.same,
            Some(Sharing::Shared) => weights.size.shared,
            Some(Sharing::Other) => weights.size.other,
            None => 0.0,
        };
        let brand = if is_same_brand(one, other) { weights.brand.same } else { weights.brand.unknown };
        let strength = both(&one.strengths, &other.strengths).map_or(0.0, |()| weights.strength.same);
        let form = if one.forms & other.forms != 0 { weights.form.same } else { 0.0 };
        let material = if one.materials & other.materials != 0 { weights.material.same } else { 0.0 };
        let strain = match one.strain.zip(other.strain) {
            Some((one, other)) if one == other => weights.strain.same,
            Some((one, other)) if !one.may_be(other) => weights.strain.other,
            _ => 0.0,
        };
        let facts = [
            brand,
            name,
            size,
            strength,
            form,
            material,
            strain,
            category(one, other, measure),
            same_or_other(one.potency, other.potency, &weights.potency),
            number(&one.numbers, &other.numbers, weights.number.same, weights.number.missing),
            pack(one, other, sizes, measure),
        ];
        Comparison { bits: facts.iter().sum(), likeness, sizes }
    }

    /// Common facts, and differences.
    pub fn evidence(&self, one: &Profile, other: &Profile, vocabulary: &Vocabulary, rules: &Rules) -> Vec<Evidence> {
        let shared_forms = rules.lexicon.form_names(one.forms & other.forms);
        let shared_materials = rules.lexicon.material_names(one.materials & other.materials);
        let brand = if is_same_brand(one, other) { Evidence::SameBrand } else { Evidence::NoBrand };
        // from 0 to 100
        let hundredths = (self.likeness.similarity * 100.0).round() as u32;
        let name = match self.likeness.level {
            Level::None => Evidence::NoName,
            _ => Evidence::Names { hundredths },
        };
        let sizes = match self.sizes {
            Some(Sharing::Other) => Some(Evidence::OtherSizes),
            Some(_) => {
                one.sizes.iter().find(|size| other.sizes.contains(size)).map(|size| Evidence::Size(size.to_string()))
            }
            None => None,
        };
        let pack = one.pack.filter(|pack| other.pack == Some(*pack)).map(Evidence::Pack);
        let strength = one.strengths.iter().find(|mg| other.strengths.contains(mg)).map(|mg| Evidence::Strength(*mg));
        let kinds = shared_forms.into_iter().chain(shared_materials).map(|kind| Evidence::Kind(kind.replace('_', " ")));
        let category = one.category.zip(other.category).filter(|(one, other)| one != other);
        let category = category.map(|(one, other)| {
            Evidence::OtherCategories([one, other].map(|category| vocabulary.text(category).replace('_', " ")))
        });
        [Some(brand), Some(name), sizes, pack, strength].into_iter().flatten().chain(kinds).chain(category).collect()
    }
}

fn is_same_brand(one: &Profile, other: &Profile) -> bool {
    one.brand.is_some() && one.brand == other.brand
}

fn are_different(one: &Profile, other: &Profile) -> bool {
    let differ = |one: u32, other: u32| one != 0 && other != 0 && one & other == 0;
    let are_other_numbers = !one.numbers.is_empty() && !other.numbers.is_empty() && one.numbers != other.numbers;
    let is_same_strength =
        || one.strengths.iter().any(|one| other.strengths.iter().any(|other| is_same_strength(*one, *other)));
    one.brand.zip(other.brand).is_some_and(|(one, other)| one != other)
        || differ(one.forms, other.forms)
        || differ(one.materials, other.materials)
        || one.versions != other.versions
        || are_other_numbers
        || one.pack.zip(other.pack).is_some_and(|(one, other)| one != other)
        || both(&one.strengths, &other.strengths).is_some() && !is_same_strength()
}

/// How the sizes of their options stand to each other; a pack may be listed by the mass of a piece.
fn sharing(one: &Profile, other: &Profile) -> Option<Sharing> {
    both(&one.sizes, &other.sizes)?;
    let pieces = u32::from(one.pack.or(other.pack).unwrap_or(1));
    if one.sizes == other.sizes {
        let is_whole = pieces > 1 && one.sizes.iter().all(|size| matches!(size, Size::Mg(mg) if *mg > MAX_PIECE_MG));
        return Some(if is_whole { Sharing::Whole } else { Sharing::Same });
    }
    let whole = |size: Size| match size {
        Size::Mg(mg) => Size::Mg(mg.saturating_mul(pieces)),
        Size::Ul(ul) => Size::Ul(ul.saturating_mul(pieces)),
    };
    let any = |is_one: &dyn Fn(Size, Size) -> bool| {
        one.sizes.iter().any(|one| other.sizes.iter().any(|other| is_one(*one, *other)))
    };
    Some(match () {
        () if pieces > 1 && one.pack.is_some() && any(&|one, other| whole(one) == other) => Sharing::Whole,
        () if pieces > 1 && other.pack.is_some() && any(&|one, other| one == whole(other)) => Sharing::Whole,
        () if any(&|one, other| one == other) => Sharing::Shared,
        () => Sharing::Other,
    })
}

fn both<T>(one: &[T], other: &[T]) -> Option<()> {
    (!one.is_empty() && !other.is_empty()).then_some(())
}

fn same_or_other<T: PartialEq>(one: Option<T>, other: Option<T>, weights: &SameOrOther) -> f64 {
    one.zip(other).map_or(0.0, |(one, other)| if one == other { weights.same } else { weights.other })
}

fn category(one: &Profile, other: &Profile, measure: Measure<'_>) -> f64 {
    let weights = &measure.rules.weights().category;
    let Some((one, other)) = one.category.zip(other.category) else { return 0.0 };
    let is_dosed = |category| measure.rules.is_dosed(measure.vocabulary.text(category));
    match () {
        () if one == other => weights.same,
        () if is_dosed(one) && is_dosed(other) => weights.dosed,
        () => weights.other,
    }
}

fn number(one: &[WordId], other: &[WordId], same: f64, missing: f64) -> f64 {
    match (one.is_empty(), other.is_empty()) {
        (true, true) => 0.0,
        (false, false) => same,
        _ => missing,
    }
}

/// A single piece is seldom called a pack; the strength of dosed goods, and the mass of all pieces, say as much as their number.
fn pack(one: &Profile, other: &Profile, sizes: Option<Sharing>, measure: Measure<'_>) -> f64 {
    let weights = &measure.rules.weights().pack;
    let is_known = both(&one.strengths, &other.strengths).is_some() || sizes == Some(Sharing::Whole);
    match (one.pack, other.pack) {
        (Some(_), Some(_)) => weights.same,
        (Some(pieces), None) | (None, Some(pieces)) if pieces > 1 && !is_known => weights.missing,
        _ => 0.0,
    }
}
