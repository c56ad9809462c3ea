//! Brands: which spellings name one maker. In: the spellings of all platforms, and the brands that are known. Out: a brand for each
//! spelling, a known or a new one.
//!
//! Spellings are one brand where their letters are the same, where one only lacks words of the law or of the trade, where a platform
//! has one id for both, or where a rare one is a misspelt frequent one. A link that exists is never changed here.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::brand_name::BrandName;
use super::rules::Rules;
use super::{BrandId, Spelling};

/// Minimum number of letters of a name that may be misspelt by one letter, and by two.
const MISSPELT: [usize; 2] = [6, 10];
/// A spelling with one wrong letter, and one with two, is a mistake only where the right one is this many times as frequent.
const MORE_FREQUENT: [u64; 2] = [8, 64];
/// Maximum number of names with the same beginning or end that are compared with each other.
const MAX_BLOCK: usize = 2_000;
/// Number of letters of that beginning or end.
const BLOCK_LETTERS: usize = 4;

/// A brand with the spellings that are linked to it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KnownBrand {
    pub id: BrandId,
    pub spellings: Vec<Spelling>,
}

/// Spellings without a brand that are one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrandGroup {
    /// None = a new brand.
    pub brand: Option<BrandId>,
    /// The most frequent spelling.
    pub name: String,
    /// Places in the list of spellings.
    pub spellings: Vec<usize>,
}

/// Links the spellings that have no brand yet. The order of the input does not matter, but for the places.
pub fn propose(known: &[KnownBrand], spellings: &[Spelling], rules: &Rules) -> Vec<BrandGroup> {
    let mut nodes = Nodes::new(known, spellings, rules);
    nodes.join_ids();
    nodes.join_short();
    nodes.join_misspelt();
    nodes.groups(spellings)
}

/// A name with all spellings that have its letters.
#[derive(Default)]
struct Node {
    name: BrandName,
    listings: u64,
    /// Places of the new spellings.
    spellings: Vec<usize>,
    brand: Option<BrandId>,
    /// Platforms with their ids of the brand.
    ids: BTreeSet<(String, String)>,
}

struct Nodes {
    all: Vec<Node>,
    /// The node that a node belongs to, itself for most.
    parents: Vec<usize>,
}

impl Nodes {
    fn new(known: &[KnownBrand], spellings: &[Spelling], rules: &Rules) -> Nodes {
        let mut nodes: BTreeMap<(String, Option<BrandId>), Node> = BTreeMap::new();
        let mut brand_of: HashMap<String, BrandId> = HashMap::new();
        for brand in known {
            for spelling in &brand.spellings {
                let Some(name) = BrandName::new(&spelling.name, rules) else { continue };
                brand_of.entry(name.full.clone()).or_insert(brand.id);
                let node = nodes.entry((name.full.clone(), Some(brand.id))).or_default();
                node.add(name, spelling);
                node.brand = Some(brand.id);
            }
        }
        for (at, spelling) in spellings.iter().enumerate() {
            let Some(name) = BrandName::new(&spelling.name, rules) else { continue };
            let brand = brand_of.get(&name.full).copied();
            let node = nodes.entry((name.full.clone(), brand)).or_default();
            node.add(name, spelling);
            node.spellings.push(at);
            node.brand = brand;
        }
        let all: Vec<Node> = nodes.into_values().collect();
        Nodes { parents: (0..all.len()).collect(), all }
    }

    fn root(&self, mut node: usize) -> usize {
        while self.parents[node] != node {
            node = self.parents[node];
        }
        node
    }

    /// Joins two nodes, unless both are of known brands.
    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        let brands = (self.all[one].brand, self.all[other].brand);
        if one == other || brands.0.is_some() && brands.1.is_some() {
            return;
        }
        let (parent, child) = if brands.1.is_some() { (other, one) } else { (one, other) };
        self.parents[child] = parent;
        self.all[parent].listings += self.all[child].listings;
    }

    /// Joins names with one id of a platform, where one contains the other or they are alike.
    fn join_ids(&mut self) {
        let mut of_id: BTreeMap<&(String, String), Vec<usize>> = BTreeMap::new();
        for (at, node) in self.all.iter().enumerate() {
            node.ids.iter().for_each(|id| of_id.entry(id).or_default().push(at));
        }
        let pairs: Vec<(usize, usize)> = of_id.into_values().flat_map(|nodes| self.alike(&nodes)).collect();
        pairs.into_iter().for_each(|(one, other)| self.join(one, other));
    }

    /// Each of the nodes with the most frequent of them, if the names are alike.
    fn alike(&self, nodes: &[usize]) -> Vec<(usize, usize)> {
        let Some(main) = nodes.iter().copied().max_by_key(|at| (self.all[*at].listings, usize::MAX - at)) else {
            return Vec::new();
        };
        let is_alike = |at: usize| {
            let (one, other) = (&self.all[main].name, &self.all[at].name);
            one.full.contains(&other.short)
                || other.full.contains(&one.short)
                || strsim::jaro_winkler(&one.full, &other.full) >= 0.8
        };
        nodes.iter().copied().filter(|at| *at != main && is_alike(*at)).map(|at| (main, at)).collect()
    }

    /// Joins a name without its words of the trade with the one name that has them.
    fn join_short(&mut self) {
        let mut of_short: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, node) in self.all.iter().enumerate() {
            of_short.entry(&node.name.short).or_default().push(at);
        }
        let mut pairs = Vec::new();
        for nodes in of_short.into_values().filter(|nodes| nodes.len() > 1) {
            let (bare, whole): (Vec<usize>, Vec<usize>) =
                nodes.into_iter().partition(|at| self.all[*at].name.full == self.all[*at].name.short);
            // which one is meant by the bare name is not known where there are two
            if let [whole] = whole[..] {
                pairs.extend(bare.into_iter().map(|bare| (whole, bare)));
            }
        }
        pairs.into_iter().for_each(|(one, other)| self.join(one, other));
    }

    fn join_misspelt(&mut self) {
        let mut blocks: BTreeMap<(u8, String), Vec<usize>> = BTreeMap::new();
        for (at, node) in
            self.all.iter().enumerate().filter(|(_, node)| node.name.full.chars().count() >= MISSPELT[0] - 1)
        {
            let letters: Vec<char> = node.name.full.chars().collect();
            for key in block_keys(&letters) {
                blocks.entry(key).or_default().push(at);
            }
        }
        // the most frequent right spelling of each
        let mut right: BTreeMap<usize, usize> = BTreeMap::new();
        for block in blocks.into_values().filter(|block| block.len() <= MAX_BLOCK) {
            for rare in block.iter().copied() {
                for frequent in block.iter().copied().filter(|frequent| self.is_misspelt(rare, *frequent)) {
                    let best = right.entry(rare).or_insert(frequent);
                    if self.all[frequent].listings > self.all[*best].listings {
                        *best = frequent;
                    }
                }
            }
        }
        right.into_iter().for_each(|(rare, frequent)| self.join(frequent, rare));
    }

    fn is_misspelt(&self, rare: usize, frequent: usize) -> bool {
        let (few, many) = (&self.all[rare], &self.all[frequent]);
        let listings = |at: usize| self.all[self.root(at)].listings;
        let is_rarer = |times: u64| listings(rare).saturating_mul(times) <= listings(frequent);
        is_rarer(MORE_FREQUENT[0])
            && match distance(&few.name.full, &many.name.full) {
                Some(1) => true,
                Some(2) => is_rarer(MORE_FREQUENT[1]),
                _ => false,
            }
    }

    fn groups(&self, spellings: &[Spelling]) -> Vec<BrandGroup> {
        let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, node) in self.all.iter().enumerate() {
            groups.entry(self.root(at)).or_default().extend(&node.spellings);
        }
        let group = |(root, mut places): (usize, Vec<usize>)| {
            places.sort_unstable();
            let frequent = places.iter().max_by_key(|at| (spellings[**at].listings, usize::MAX - **at))?;
            Some(BrandGroup { brand: self.all[root].brand, name: spellings[*frequent].name.clone(), spellings: places })
        };
        let mut groups: Vec<BrandGroup> = groups.into_iter().filter_map(group).collect();
        groups.sort_by(|one, other| one.spellings.cmp(&other.spellings));
        groups
    }
}

impl Node {
    fn add(&mut self, name: BrandName, spelling: &Spelling) {
        self.name = name;
        self.listings += u64::from(spelling.listings.max(1));
        self.ids.extend(spelling.brand_id.iter().map(|id| (spelling.platform.clone(), id.clone())));
    }
}

/// The beginning of a name, its end, some of both, and all of its letters in order, of which a mistake leaves one as it was.
fn block_keys(letters: &[char]) -> [(u8, String); 4] {
    let end = letters.len() - BLOCK_LETTERS;
    let mut sorted = letters.to_vec();
    sorted.sort_unstable();
    let outer = letters[..2].iter().chain(&letters[letters.len() - 2..]);
    let texts = [
        letters[..BLOCK_LETTERS].iter().collect(),
        letters[end..].iter().collect(),
        outer.collect(),
        sorted.iter().collect(),
    ];
    let mut kind = 0;
    texts.map(|text| {
        kind += 1;
        (kind, text)
    })
}

/// Whether one may be the other with wrong letters.
pub(super) fn is_near(one: &str, other: &str) -> bool {
    distance(one, other).is_some()
}

/// The number of wrong letters by which one may be the other: one or, where it is long and begins alike, two. Digits are never wrong.
fn distance(one: &str, other: &str) -> Option<usize> {
    let [one_length, other_length] = [one, other].map(|name| name.chars().count());
    let is_same_start = one.chars().next() == other.chars().next();
    let allowed = MISSPELT.iter().filter(|letters| one_length.min(other_length) >= **letters).count();
    let allowed = allowed.min(if is_same_start { 2 } else { 1 });
    // the distance itself takes most of the time
    let may_be =
        one_length.abs_diff(other_length) <= allowed && (is_same_start || one.chars().last() == other.chars().last());
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    if allowed == 0 || !may_be || one == other || digits(one) != digits(other) {
        return None;
    }
    Some(strsim::osa_distance(one, other)).filter(|distance| *distance <= allowed)
}
