//! Proposals for any stores: of any text, in any order.

use std::collections::HashSet;

use proptest::prelude::*;

use super::super::{Input, KnownRetailer, Proposals, RegisterEntry, StoreRecord, propose};
use super::state::state;
use crate::store::StoreId;

/// Texts of few words, so that stores have something in common, and any text.
fn any_text() -> impl Strategy<Value = String> {
    let words = [
        "copper", "fern", "12", "14", "Main", "St", "Rd", "N", "#", "Suite", "5", ",", "Mesa", "AZ", "85201", "🌿",
        "\u{202e}", "REC",
    ];
    prop_oneof![
        4 => prop::collection::vec(prop::sample::select(words.to_vec()), 0..6).prop_map(|words| words.join(" ")),
        1 => any::<String>(),
    ]
}

prop_compose! {
    fn any_store()(
        platform in prop::sample::select(vec!["dutchie", "jane", "weedmaps"]),
        [name, address, city, phone] in [any_text(), any_text(), any_text(), any_text()],
        state in prop::option::of(prop::sample::select(vec!["AZ", "Arizona", "NM"])),
        zip in prop::option::of(prop::sample::select(vec!["85201", "85202"])),
        point in prop::option::of((prop_oneof![Just(33.4), Just(33.401), any::<f64>()], prop_oneof![Just(-111.8), any::<f64>()])),
        licences in prop::collection::vec(prop_oneof![Just("A100".to_owned()), Just("A200".to_owned()), any_text()], 0..3),
        flags in any::<[Option<bool>; 3]>(),
    ) -> StoreRecord {
        let [is_recreational, is_medical, is_delivery] = flags;
        StoreRecord {
            id: 0,
            platform: platform.to_owned(),
            name,
            address: Some(address),
            city: Some(city),
            state: state.map(str::to_owned),
            zip: zip.map(str::to_owned),
            latitude: point.map(|point| point.0),
            longitude: point.map(|point| point.1),
            phone: Some(phone.clone()),
            website: Some(phone),
            licences,
            is_recreational,
            is_medical,
            is_delivery,
        }
    }
}

prop_compose! {
    fn any_input()(
        stores in prop::collection::vec(any_store(), 0..20),
        retailers in prop::collection::vec([prop::collection::vec(1..20i64, 0..3), prop::collection::vec(1..20i64, 0..3)], 0..3),
        refused in prop::collection::vec([1..20i64, 1..20i64], 0..4),
        register in prop::collection::vec((prop::sample::select(vec!["A100", "A200"]), any_text(), any_text()), 0..3),
    ) -> Input {
        let stores = stores.into_iter().zip(1..).map(|(store, id)| StoreRecord { id, ..store }).collect();
        let known = |(id, [confirmed, refused]): (i64, [Vec<StoreId>; 2])| KnownRetailer { id, confirmed, refused };
        let entry = |(licence, name, address): (&str, String, String)| {
            let (licence, zip) = (licence.to_owned(), Some("85201".to_owned()));
            RegisterEntry { licence, name, address, zip, ..RegisterEntry::default() }
        };
        Input {
            stores,
            retailers: (1..).zip(retailers).map(known).collect(),
            refused,
            register: register.into_iter().map(entry).collect(),
        }
    }
}

fn confirmed(input: &Input) -> HashSet<StoreId> {
    input.retailers.iter().flat_map(|known| known.confirmed.iter().copied()).collect()
}

fn stores_of(proposals: &Proposals) -> Vec<StoreId> {
    let mut stores: Vec<StoreId> = proposals.sure.iter().flat_map(|group| group.stores.iter().copied()).collect();
    stores.sort_unstable();
    stores
}

proptest! {
    #[test]
    fn each_store_without_a_retailer_is_in_one_group(input in any_input()) {
        let known = confirmed(&input);
        let expected: Vec<StoreId> = input.stores.iter().map(|store| store.id).filter(|id| !known.contains(id)).collect();
        prop_assert_eq!(stores_of(&propose(&input)), expected);
    }

    #[test]
    fn the_order_of_the_input_does_not_matter(input in any_input(), seed in any::<u64>()) {
        let mut other = input.clone();
        let turn = |length: usize| usize::try_from(seed % (length.max(1) as u64)).unwrap();
        other.stores.reverse();
        let by = turn(other.stores.len());
        other.stores.rotate_left(by);
        other.retailers.reverse();
        other.refused.reverse();
        other.register.reverse();
        prop_assert_eq!(propose(&other), propose(&input));
    }

    #[test]
    fn a_refused_pair_is_never_proposed(input in any_input()) {
        let proposals = propose(&input);
        let is_refused = |one: &StoreId, other: &StoreId| {
            input.refused.iter().any(|pair| pair == &[*one, *other] || pair == &[*other, *one])
        };
        for group in &proposals.sure {
            let has_refused = group.stores.iter().any(|one| group.stores.iter().any(|other| one < other && is_refused(one, other)));
            prop_assert!(!has_refused, "{:?}", group);
            let retailer = group.retailer.and_then(|id| input.retailers.iter().find(|known| known.id == id));
            let refuses = |known: &KnownRetailer| group.stores.iter().any(|store| known.refused.contains(store));
            prop_assert!(!retailer.is_some_and(refuses), "{:?}", group);
        }
        for link in &proposals.likely {
            prop_assert!(!is_refused(&link.stores[0], &link.stores[1]));
        }
    }

    #[test]
    fn a_person_is_asked_of_stores_that_are_not_one_yet(input in any_input()) {
        let proposals = propose(&input);
        let known = confirmed(&input);
        for link in &proposals.likely {
            let is_one = proposals.sure.iter().any(|group| link.stores.iter().all(|store| group.stores.contains(store)));
            prop_assert!(!is_one && !link.stores.iter().all(|store| known.contains(store)), "{:?}", link);
        }
    }
}

#[test]
fn the_order_of_a_whole_state_does_not_matter() {
    let state = state(1);
    let mut other = Input { register: state.register.clone(), ..state.input.clone() };
    other.stores.reverse();
    other.register.reverse();
    assert_eq!(propose(&other), propose(&Input { register: state.register, ..state.input }));
}
