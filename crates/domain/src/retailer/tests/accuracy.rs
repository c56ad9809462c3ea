//! How often the proposals that need no person are right, and how many stores of one shop they find.

use std::collections::{HashMap, HashSet};

use rstest::rstest;

use super::super::{Input, Proposals, propose};
use super::state::state;
use crate::store::StoreId;

const MIN_PRECISION: f64 = 0.995;
const MIN_RECALL: f64 = 0.95;

type Pairs = HashSet<[StoreId; 2]>;

/// Pairs of stores in one group.
fn pairs(groups: impl IntoIterator<Item = Vec<StoreId>>) -> Pairs {
    let of_group = |mut stores: Vec<StoreId>| {
        stores.sort_unstable();
        let pairs = |at: usize| stores[at + 1..].iter().map(|other| [stores[at], *other]).collect::<Vec<_>>();
        (0..stores.len()).flat_map(pairs).collect::<Vec<_>>()
    };
    groups.into_iter().flat_map(of_group).collect()
}

fn sure_pairs(proposals: &Proposals) -> Pairs {
    pairs(proposals.sure.iter().map(|group| group.stores.clone()))
}

fn true_pairs(shop_of: &HashMap<StoreId, usize>) -> Pairs {
    let mut shops: HashMap<usize, Vec<StoreId>> = HashMap::new();
    shop_of.iter().for_each(|(store, shop)| shops.entry(*shop).or_default().push(*store));
    pairs(shops.into_values())
}

#[rstest]
fn sure_proposals_are_right_and_find_nearly_all(
    #[values(1, 2, 3, 4, 5, 6, 90_125)] seed: u64,
    #[values(false, true)] has_register: bool,
) {
    let state = state(seed);
    let register = if has_register { state.register } else { vec![] };
    let proposals = propose(&Input { register, ..state.input });
    let (found, expected) = (sure_pairs(&proposals), true_pairs(&state.shop_of));
    let right = found.intersection(&expected).count() as f64;
    let (precision, recall) = (right / found.len() as f64, right / expected.len() as f64);
    let figures = format!("precision {precision:.4}, recall {recall:.4} of {} pairs", expected.len());
    assert!(precision >= MIN_PRECISION && recall >= MIN_RECALL, "{figures}");
}
