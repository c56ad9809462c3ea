//! `Profile`: a product as the rules compare it. In: a listing and its brand. Out: the parsed parts, each of them of bounded length.

use super::brand_index::BrandIndex;
use super::lexicon::{Meaning, Strain};
use super::phrases::{Phrase, phrases};
use super::rules::Rules;
use super::stated::{Stated, is_single};
use super::tokens::{Token, tokens};
use super::words::{Vocabulary, WordId};
use super::{BrandId, Listing};
use crate::menu::product::{Potency, PotencyUnit};

/// Maximum number of words of a name that are compared, of options that are read, and of amounts that are kept.
const MAX_WORDS: usize = 16;
const MAX_OPTIONS: usize = 32;
const MAX_AMOUNTS: usize = 12;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Profile {
    pub brand: Option<BrandId>,
    /// The canonical category, as a word.
    pub category: Option<WordId>,
    /// The words of the name that are not its brand, amounts or words without meaning.
    pub words: Box<[WordId]>,
    /// Numbers of the name that are no amounts.
    pub numbers: Box<[WordId]>,
    /// Bits of the lexicon.
    pub forms: u32,
    pub materials: u32,
    /// Words that make it another version, in order.
    pub versions: Box<[WordId]>,
    /// Number of pieces.
    pub pack: Option<u16>,
    /// Milligrams of THC that the package may have.
    pub strengths: Box<[u32]>,
    /// Sizes of its options.
    pub sizes: Box<[Size]>,
    pub strain: Option<Strain>,
    pub potency: Option<Band>,
}

/// Band of THC: batches differ within it, kinds of goods do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Band {
    Hemp,
    Mild,
    Flower,
    Extract,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Size {
    Mg(u32),
    /// Microlitres.
    Ul(u32),
}

impl Profile {
    pub fn new(listing: &Listing, brands: &BrandIndex, rules: &Rules, vocabulary: &mut Vocabulary) -> Profile {
        let all = tokens(&listing.name);
        let brand = brands.named(listing).or_else(|| brands.found_in(&all));
        let own = match brand {
            Some(brand) => brands.without(brand, all),
            None => all,
        };
        let mut stated = Stated::read(own);
        let mut reading = Reading { rules, vocabulary, profile: Profile { brand, ..Profile::default() } };
        reading.name(std::mem::take(&mut stated.rest));
        reading.versions(&stated.versions);
        reading.subcategory(listing.subcategory.as_deref());
        reading.category(listing.category.as_deref());
        reading.amounts(listing, stated);
        let strain = listing.strain_type.as_deref().and_then(Strain::read);
        let mut profile = reading.profile;
        profile.strain = strain.or(profile.strain);
        profile.potency = listing.thc.as_ref().and_then(Band::of);
        profile
    }

    /// Adds what another listing of the same product states and this one leaves out.
    pub fn learn(&mut self, other: &Profile) {
        self.brand = self.brand.or(other.brand);
        self.category = self.category.or(other.category);
        self.pack = self.pack.or(other.pack);
        self.strain = self.strain.or(other.strain);
        self.potency = self.potency.or(other.potency);
        self.forms = if self.forms == 0 { other.forms } else { self.forms };
        self.materials = if self.materials == 0 { other.materials } else { self.materials };
        if self.numbers.is_empty() {
            self.numbers = other.numbers.clone();
        }
        self.strengths = agreed(&self.strengths, &other.strengths);
        if other.sizes.iter().any(|size| !self.sizes.contains(size)) {
            let mut sizes = sorted([&*self.sizes, &*other.sizes].concat()).into_vec();
            sizes.truncate(MAX_AMOUNTS);
            self.sizes = sizes.into();
        }
    }

    /// How much is known of it: the more, the better it stands for others.
    pub fn facts(&self) -> u32 {
        let known = [
            self.brand.is_some(),
            self.category.is_some(),
            self.forms != 0,
            self.pack.is_some(),
            !self.strengths.is_empty(),
            !self.sizes.is_empty(),
        ];
        // other listings have some of the sizes
        known.into_iter().map(u32::from).sum::<u32>() + (self.sizes.len() as u32).clamp(1, 4) - 1
    }
}

impl Band {
    fn of(potency: &Potency) -> Option<Band> {
        let percent = potency.max.or(potency.min).filter(|_| potency.unit == Some(PotencyUnit::Percentage))?;
        match percent {
            0.0..2.0 => Some(Band::Hemp),
            2.0..10.0 => Some(Band::Mild),
            10.0..45.0 => Some(Band::Flower),
            45.0..=100.0 => Some(Band::Extract),
            _ => None,
        }
    }
}

struct Reading<'r> {
    rules: &'r Rules,
    vocabulary: &'r mut Vocabulary,
    profile: Profile,
}

impl Reading<'_> {
    fn id(&mut self, text: &str) -> WordId {
        self.vocabulary.id(text, &self.rules.lexicon)
    }

    fn name(&mut self, tokens: Vec<Token>) {
        let (mut words, mut numbers, mut versions) = (Vec::new(), Vec::new(), Vec::new());
        for Phrase { text, is_number, meaning } in phrases(tokens, &self.rules.lexicon, self.vocabulary) {
            let id = self.id(&text);
            match meaning {
                Some(Meaning::Ignored) => {}
                Some(Meaning::Strain(strain)) => self.profile.strain = Some(strain),
                Some(Meaning::Version) => versions.push(id),
                None if is_number => numbers.push(id),
                Some(Meaning::Form(_) | Meaning::Material(_)) | None => words.push(id),
            }
            match meaning {
                Some(Meaning::Form(bit)) => self.profile.forms |= bit,
                Some(Meaning::Material(bit)) => self.profile.materials |= bit,
                _ => {}
            }
        }
        words.truncate(MAX_WORDS);
        self.profile.words = words.into();
        self.profile.numbers = sorted(numbers);
        self.profile.versions = sorted(versions);
    }

    fn versions(&mut self, more: &[String]) {
        let more: Vec<WordId> = more.iter().map(|version| self.id(version)).collect();
        self.profile.versions = sorted([self.profile.versions.to_vec(), more].concat());
    }

    /// A subcategory says what the name leaves out.
    fn subcategory(&mut self, subcategory: Option<&str>) {
        let Some(subcategory) = subcategory else { return };
        let (mut forms, mut materials, mut versions) = (0, 0, Vec::new());
        for Phrase { text, meaning, .. } in phrases(tokens(subcategory), &self.rules.lexicon, self.vocabulary) {
            match meaning {
                Some(Meaning::Form(bit)) => forms |= bit,
                Some(Meaning::Material(bit)) => materials |= bit,
                Some(Meaning::Version) => versions.push(self.id(&text)),
                _ => {}
            }
        }
        let profile = &mut self.profile;
        profile.forms |= if profile.forms == 0 { forms } else { 0 };
        profile.materials |= if profile.materials == 0 { materials } else { 0 };
        if profile.versions.is_empty() {
            profile.versions = sorted(versions);
        }
    }

    /// Forms of another category than the platform's are words of the name, as in the flower "Chocolate Thai", unless there is none.
    fn category(&mut self, category: Option<&str>) {
        let lexicon = &self.rules.lexicon;
        let forms = self.profile.forms;
        // a form that is no flavour knows better than the platform
        let sure = lexicon.category(lexicon.without_flavours(forms));
        let category = sure.or(category);
        let bits = (0..u32::BITS).map(|at| 1_u32 << at).filter(|bit| forms & bit != 0);
        let fitting =
            bits.filter(|bit| category.is_none() || lexicon.category(*bit) == category).fold(0, |set, bit| set | bit);
        let of_forms = lexicon.category(forms).map(str::to_owned);
        self.profile.forms = fitting;
        if !category.or(of_forms.as_deref()).is_none_or(|category| self.rules.has_materials(category)) {
            self.materials_as_versions();
        }
        self.profile.category = category.map(str::to_owned).or(of_forms).map(|category| self.id(&category));
    }

    fn is_dosed(&self) -> bool {
        self.profile.category.is_some_and(|category| self.rules.is_dosed(self.vocabulary.text(category)))
    }

    fn materials_as_versions(&mut self) {
        let names = self.rules.lexicon.material_names(std::mem::take(&mut self.profile.materials));
        let versions: Vec<String> = names.into_iter().map(str::to_owned).collect();
        self.versions(&versions);
        let (vocabulary, words) = (&*self.vocabulary, std::mem::take(&mut self.profile.words).into_vec());
        let is_material = |word: &WordId| matches!(vocabulary.word(*word).meaning, Some(Meaning::Material(_)));
        self.profile.words = words.into_iter().filter(|word| !is_material(word)).collect();
    }

    fn amounts(&mut self, listing: &Listing, name: Stated) {
        let options = listing.options.iter().take(MAX_OPTIONS).map(|label| Stated::read(tokens(label)));
        let options = options.reduce(|mut all, next| {
            all.masses.extend(next.masses);
            all.volumes.extend(next.volumes);
            all.counts.extend(next.counts);
            all
        });
        let options = options.unwrap_or_default();
        let is_single =
            || tokens(listing.subcategory.as_deref()?).iter().any(|word| is_single(&word.text)).then_some(1);
        let pack = name.pack().or_else(|| options.pack()).or_else(is_single);
        let is_dosed = self.is_dosed();
        self.profile.pack = pack;
        if is_dosed {
            let masses: Vec<u32> = name.masses.iter().chain(&options.masses).copied().collect();
            self.profile.strengths = strengths(&masses, pack, listing.thc.as_ref().and_then(milligrams));
        }
        let measured = |stated: &Stated| {
            let masses = stated.masses.iter().filter(|_| !is_dosed).map(|mg| Size::Mg(*mg));
            masses.chain(stated.volumes.iter().map(|ul| Size::Ul(*ul))).take(MAX_AMOUNTS).collect::<Vec<_>>()
        };
        let sizes = [measured(&options), measured(&name)].into_iter().find(|sizes| !sizes.is_empty());
        self.profile.sizes = sorted(sizes.unwrap_or_default());
    }
}

/// Milligrams that the package may have: of a piece and of all pieces, as far as the names and the platform agree.
fn strengths(masses: &[u32], pack: Option<u16>, thc: Option<u32>) -> Box<[u32]> {
    let pieces = u32::from(pack.unwrap_or(1));
    let with_packs = |mg: u32| [mg, mg.saturating_mul(pieces)];
    let stated: Vec<u32> = masses.iter().copied().flat_map(with_packs).collect();
    // a piece and the package are both stated: the package it is
    let whole = masses.iter().copied().filter(|mg| pieces > 1 && masses.contains(&(mg.saturating_mul(pieces))));
    let whole: Vec<u32> = whole.map(|mg| mg.saturating_mul(pieces)).collect();
    let stated = if whole.is_empty() { stated } else { whole };
    let measured: Vec<u32> = thc.into_iter().flat_map(with_packs).collect();
    let agreed: Vec<u32> =
        stated.iter().copied().filter(|mg| measured.iter().any(|other| is_same_strength(*mg, *other))).collect();
    let chosen = [agreed, stated, measured].into_iter().find(|strengths| !strengths.is_empty()).unwrap_or_default();
    let mut chosen = sorted(chosen).into_vec();
    chosen.truncate(MAX_AMOUNTS);
    chosen.into()
}

/// The strengths that both may have; all of them where one says nothing.
fn agreed(one: &[u32], other: &[u32]) -> Box<[u32]> {
    let is_shared = |mg: &u32| other.iter().any(|other| is_same_strength(*mg, *other));
    let both: Vec<u32> = one.iter().copied().filter(is_shared).collect();
    let found = [&both[..], one, other].into_iter().find(|strengths| !strengths.is_empty());
    found.unwrap_or_default().into()
}

/// Laboratories measure what the label promises with an error.
pub(super) fn is_same_strength(one: u32, other: u32) -> bool {
    u64::from(one.abs_diff(other)) * 8 <= u64::from(one.max(other))
}

fn milligrams(potency: &Potency) -> Option<u32> {
    let value = potency.max.or(potency.min).filter(|_| potency.unit == Some(PotencyUnit::Milligrams))?;
    (1.0..=1_000_000.0).contains(&value).then(|| value.round() as u32)
}

fn sorted<T: Ord>(mut values: Vec<T>) -> Box<[T]> {
    values.sort_unstable();
    values.dedup();
    values.into()
}
