//! Single rules: two or three stores, and what is proposed for them.

use rstest::rstest;

use super::super::{Group, Input, KnownRetailer, Proposals, RegisterEntry, StoreRecord, propose};
use crate::store::StoreId;

fn store(id: StoreId, platform: &str, name: &str, address: &str) -> StoreRecord {
    StoreRecord {
        id,
        platform: platform.to_owned(),
        name: name.to_owned(),
        address: Some(address.to_owned()),
        city: Some("Mesa".to_owned()),
        state: Some("AZ".to_owned()),
        zip: Some("85201".to_owned()),
        ..StoreRecord::default()
    }
}

fn dutchie(name: &str, address: &str) -> StoreRecord {
    store(1, "dutchie", name, address)
}

fn weedmaps(name: &str, address: &str) -> StoreRecord {
    StoreRecord { state: Some("Arizona".to_owned()), ..store(2, "weedmaps", name, address) }
}

impl StoreRecord {
    fn licence(self, licence: &str) -> StoreRecord {
        StoreRecord { licences: vec![licence.to_owned()], ..self }
    }

    fn phone(self, phone: &str) -> StoreRecord {
        StoreRecord { phone: Some(phone.to_owned()), ..self }
    }

    fn website(self, website: &str) -> StoreRecord {
        StoreRecord { website: Some(website.to_owned()), ..self }
    }

    fn city(self, city: &str) -> StoreRecord {
        StoreRecord { city: Some(city.to_owned()), zip: None, ..self }
    }

    fn state(self, state: &str) -> StoreRecord {
        StoreRecord { state: Some(state.to_owned()), ..self }
    }

    /// Hundredths of a mile north of the middle of the city.
    fn north(self, hundredths: f64) -> StoreRecord {
        StoreRecord { latitude: Some(33.41 + hundredths / 6_909.0), longitude: Some(-111.83), ..self }
    }

    fn serving(self, is_recreational: bool, is_medical: bool) -> StoreRecord {
        StoreRecord { is_recreational: Some(is_recreational), is_medical: Some(is_medical), ..self }
    }
}

fn proposals(stores: impl IntoIterator<Item = StoreRecord>) -> Proposals {
    propose(&Input { stores: stores.into_iter().collect(), ..Input::default() })
}

/// `sure: …` or `likely: …` with the evidence; empty where nothing is proposed.
fn written(proposals: &Proposals) -> String {
    let links = |links: &[super::super::Link]| {
        let evidence = links.iter().flat_map(|link| &link.evidence).map(ToString::to_string);
        evidence.collect::<Vec<_>>().join(", ")
    };
    let sure: Vec<_> = proposals.sure.iter().flat_map(|group| group.links.clone()).collect();
    match () {
        () if !sure.is_empty() => format!("sure: {}", links(&sure)),
        () if !proposals.likely.is_empty() => format!("likely: {}", links(&proposals.likely)),
        () => String::new(),
    }
}

fn groups(proposals: &Proposals) -> Vec<Vec<StoreId>> {
    proposals.sure.iter().map(|group| group.stores.clone()).collect()
}

#[rstest]
#[case::the_same(
    dutchie("Copper Fern", "12 Example Rd").licence("00000100ESAA"),
    weedmaps("Copper Fern", "12 Example Rd").licence("00000100-esaa"),
    "sure: same licence 00000100ESAA, same address 12 Example Rd, Mesa, same name"
)]
#[case::moved(
    dutchie("Copper Fern", "12 Example Rd").licence("00000100ESAA"),
    weedmaps("Copper Fern", "900 Granite Ave").licence("00000100ESAA"),
    "sure: same licence 00000100ESAA, different addresses: 12 Example Rd and 900 Granite Ave, same name, same city Mesa"
)]
#[case::renamed(
    dutchie("Copper Fern", "12 Example Rd").licence("00000100ESAA"),
    weedmaps("Tin Lantern", "12 Example Rd").licence("00000100ESAA"),
    "sure: same licence 00000100ESAA, same address 12 Example Rd, Mesa, different names: Copper Fern and Tin Lantern"
)]
#[case::moved_and_renamed(
    dutchie("Copper Fern", "12 Example Rd").licence("00000100ESAA"),
    weedmaps("Tin Lantern", "900 Granite Ave").licence("00000100ESAA"),
    "likely: same licence 00000100ESAA, different addresses: 12 Example Rd and 900 Granite Ave, \
     different names: Copper Fern and Tin Lantern, same city Mesa"
)]
#[case::of_another_state(
    dutchie("Copper Fern", "12 Example Rd").licence("A-100"),
    weedmaps("Copper Fern", "12 Example Rd").licence("A-100").state("New Mexico"),
    ""
)]
#[case::no_licence_at_all(
    dutchie("Copper Fern", "12 Example Rd").licence("pending"),
    weedmaps("Tin Lantern", "900 Granite Ave").licence("PENDING"),
    ""
)]
fn a_licence_decides(#[case] one: StoreRecord, #[case] other: StoreRecord, #[case] expected: &str) {
    assert_eq!(written(&proposals([one, other])), expected);
}

#[rstest]
#[case::spelled_otherwise(
    dutchie("Copper Fern", "12 N Example Rd, Suite 5"),
    weedmaps("The Copper Fern Dispensary", "12 North Example Road #5"),
    "sure: same address 12 N Example Rd, Suite 5, Mesa, same name"
)]
#[case::renamed_in_its_suite(
    dutchie("Copper Fern", "12 Example Rd #5"),
    weedmaps("Tin Lantern", "12 Example Rd Ste 5"),
    "sure: same address 12 Example Rd #5, Mesa, different names: Copper Fern and Tin Lantern"
)]
#[case::renamed_with_its_phone(
    dutchie("Copper Fern", "12 Example Rd").phone("480 555 0100"),
    weedmaps("Tin Lantern", "12 Example Rd").phone("(480) 555-0100"),
    "sure: same address 12 Example Rd, Mesa, different names: Copper Fern and Tin Lantern, same phone 4805550100"
)]
#[case::renamed_or_two_shops(
    dutchie("Copper Fern", "12 Example Rd"),
    weedmaps("Tin Lantern", "12 Example Rd"),
    "likely: same address 12 Example Rd, Mesa, different names: Copper Fern and Tin Lantern"
)]
#[case::two_shops_with_licences(
    dutchie("Copper Fern", "12 Example Rd").licence("A100"),
    weedmaps("Tin Lantern", "12 Example Rd").licence("A200"),
    ""
)]
#[case::two_shops_of_a_mall(
    dutchie("Copper Fern", "12 Example Rd #5"),
    weedmaps("Tin Lantern", "12 Example Rd #7"),
    ""
)]
#[case::two_doors(
    dutchie("Copper Fern", "12 Example Rd #5").website("fern.example"),
    weedmaps("Copper Fern", "12 Example Rd #7").website("https://www.fern.example/mesa"),
    "sure: same address 12 Example Rd #5, Mesa, same name, same website fern.example, different suites: 5 and 7"
)]
#[case::two_doors_without_support(
    dutchie("Copper Fern", "12 Example Rd #5"),
    weedmaps("Copper Fern", "12 Example Rd #7"),
    "likely: same address 12 Example Rd #5, Mesa, same name, different suites: 5 and 7"
)]
#[case::typing_error(
    dutchie("Copper Fern", "12 Exmaple Rd"),
    weedmaps("Copper Fern", "12 Example Rd"),
    "sure: addresses alike: 12 Exmaple Rd and 12 Example Rd, same name, same city Mesa"
)]
#[case::a_chain_in_one_city(dutchie("Copper Fern", "12 Example Rd"), weedmaps("Copper Fern", "900 Granite Ave"), "")]
fn then_the_address(#[case] one: StoreRecord, #[case] other: StoreRecord, #[case] expected: &str) {
    assert_eq!(written(&proposals([one, other])), expected);
}

#[rstest]
#[case::no_address(
    dutchie("Copper Fern", "").north(0.0),
    weedmaps("Copper Fern", "12 Example Rd").north(4.0),
    "sure: 0.04 miles apart, same name, same city Mesa"
)]
#[case::names_alike(
    dutchie("Coper Fern Supply", "").north(0.0),
    weedmaps("Copper Fern", "12 Example Rd").north(9.0),
    "sure: 0.09 miles apart, names alike, same city Mesa"
)]
#[case::other_names(
    dutchie("Tin Lantern", "").north(0.0),
    weedmaps("Copper Fern", "12 Example Rd").north(4.0),
    "likely: 0.04 miles apart, different names: Tin Lantern and Copper Fern, same city Mesa"
)]
#[case::error_in_the_number(
    dutchie("Copper Fern", "21 Example Rd").north(0.0),
    weedmaps("Copper Fern", "12 Example Rd").north(4.0),
    "sure: different addresses: 21 Example Rd and 12 Example Rd, 0.04 miles apart, same name, same city Mesa"
)]
#[case::neighbours_with_names_alike(
    dutchie("Royal Leaf", "14 Example Rd").north(0.0),
    weedmaps("Royal Peak", "12 Example Rd").north(4.0),
    "likely: different addresses: 14 Example Rd and 12 Example Rd, 0.04 miles apart, names alike, same city Mesa"
)]
#[case::neighbours(
    dutchie("Tin Lantern", "14 Example Rd").north(0.0),
    weedmaps("Copper Fern", "12 Example Rd").north(4.0),
    ""
)]
#[case::too_far(dutchie("Copper Fern", "").north(0.0), weedmaps("Coper Fern", "12 Example Rd").north(11.0), "")]
fn then_the_distance(#[case] one: StoreRecord, #[case] other: StoreRecord, #[case] expected: &str) {
    assert_eq!(written(&proposals([one, other])), expected);
}

#[rstest]
#[case::with_the_phone_of_the_shop(
    dutchie("Copper Fern", "").phone("4805550100"),
    weedmaps("Copper Fern", "12 Example Rd").phone("4805550100"),
    "sure: same name, same city Mesa, same phone 4805550100"
)]
#[case::without_a_phone(
    dutchie("Copper Fern", ""),
    weedmaps("Copper Fern Downtown", "12 Example Rd"),
    "likely: names alike, same city Mesa"
)]
#[case::moved_without_a_licence(
    dutchie("Copper Fern", "900 Granite Ave").phone("4805550100"),
    weedmaps("Copper Fern", "12 Example Rd").phone("4805550100"),
    "likely: different addresses: 900 Granite Ave and 12 Example Rd, same name, same city Mesa, same phone 4805550100"
)]
#[case::another_first_word(dutchie("Coper Fern", ""), weedmaps("Copper Fern", "12 Example Rd"), "")]
#[case::another_city(dutchie("Copper Fern", "").city("Gilbert"), weedmaps("Copper Fern", "12 Example Rd"), "")]
#[case::no_city(dutchie("Copper Fern", "").city(""), weedmaps("Copper Fern", "12 Example Rd").city(""), "")]
#[case::phone_alone(
    dutchie("Copper Fern", "").phone("4805550100"),
    weedmaps("Tin Lantern", "12 Example Rd").phone("4805550100"),
    ""
)]
fn then_name_and_city(#[case] one: StoreRecord, #[case] other: StoreRecord, #[case] expected: &str) {
    assert_eq!(written(&proposals([one, other])), expected);
}

#[test]
fn a_licence_of_a_whole_chain_does_not_decide() {
    let stores = [
        weedmaps("Copper Fern", "12 Example Rd").licence("MMTC-2015-0001"),
        StoreRecord { id: 3, ..weedmaps("Copper Fern", "900 Granite Ave").licence("MMTC-2015-0001") },
        store(4, "jane", "Copper Fern", "900 Granite Ave").licence("MMTC-2015-0001"),
        store(5, "leafly", "Copper Fern", "7 Elm St").licence("MMTC-2015-0001"),
    ];
    assert_eq!(groups(&proposals(stores)), [vec![2], vec![3, 4], vec![5]]);
}

#[test]
fn the_phone_of_a_chain_does_not_decide_for_a_branch() {
    let phone = "4805550100";
    let stores = [
        weedmaps("Copper Fern", "12 Example Rd").phone(phone),
        StoreRecord { id: 3, ..weedmaps("Copper Fern", "900 Granite Ave").phone(phone) },
        store(4, "jane", "Copper Fern", "").phone(phone),
    ];
    let proposals = proposals(stores);
    assert_eq!(groups(&proposals), [vec![2], vec![3], vec![4]]);
    assert_eq!(proposals.likely.iter().map(|link| link.stores).collect::<Vec<_>>(), [[2, 4], [3, 4]]);
}

#[test]
fn menus_for_recreational_and_medical_customers_are_one_retailer() {
    let stores = [
        dutchie("Copper Fern", "12 Example Rd").serving(true, true),
        store(3, "jane", "Copper Fern (REC)", "12 Example Rd").serving(true, false),
        store(4, "jane", "Copper Fern (MED)", "12 Example Rd").serving(false, true),
    ];
    assert_eq!(groups(&proposals(stores)), [vec![1, 3, 4]]);
}

#[test]
fn deliveries_of_a_shop_are_its_retailers() {
    let delivery =
        StoreRecord { id: 3, address: None, is_delivery: Some(true), ..weedmaps("Copper Fern Delivery", "") };
    let stores = [weedmaps("Copper Fern", "12 Example Rd").licence("A100"), delivery.licence("A100")];
    assert_eq!(groups(&proposals(stores)), [vec![2, 3]]);
}

#[test]
fn a_store_that_two_of_a_platform_match_alike_is_left_to_a_person() {
    let stores = [
        dutchie("Copper Fern", "12 Example Rd"),
        weedmaps("Copper Fern", "12 Example Rd"),
        StoreRecord { id: 3, ..weedmaps("Copper Fern", "12 Example Rd") },
    ];
    let proposals = proposals(stores);
    assert_eq!(groups(&proposals), [vec![1], vec![2], vec![3]]);
    assert_eq!(proposals.likely.iter().map(|link| link.stores).collect::<Vec<_>>(), [[1, 2], [1, 3]]);
}

#[test]
fn the_stronger_of_two_matches_of_a_platform_is_sure() {
    let stores = [
        dutchie("Copper Fern", "12 Example Rd #5"),
        weedmaps("Copper Fern", "12 Example Rd #5"),
        StoreRecord { id: 3, ..weedmaps("Copper Fern", "12 Example Rd") },
    ];
    let proposals = proposals(stores);
    assert_eq!(groups(&proposals), [vec![1, 2], vec![3]]);
    assert_eq!(proposals.likely, []);
}

#[test]
fn stores_at_a_default_point_are_not_near_each_other() {
    let stores = [
        dutchie("Copper Fern", "12 Example Rd").north(0.0),
        weedmaps("Copper Fern", "12 Granite Rd").north(0.0),
        store(3, "leafly", "Tin Lantern", "900 Elm St").north(0.0),
        store(4, "jane", "Amber Gate", "7 Oak St").north(0.0),
    ];
    assert_eq!(groups(&proposals(stores)), [vec![1], vec![2], vec![3], vec![4]]);
}

#[test]
fn stores_in_two_places_are_not_joined_by_one_without_an_address() {
    let stores = [
        dutchie("Copper Fern", "12 Example Rd").north(0.0),
        weedmaps("Copper Valley Fern", "17 Example Rd").north(6.0),
        store(3, "jane", "Copper Fern", "").north(2.0),
    ];
    assert_eq!(groups(&proposals(stores)), [vec![1, 3], vec![2]]);
}

#[test]
fn stores_of_before_and_after_a_move_are_joined_by_their_licence() {
    let stores = [
        dutchie("Copper Fern", "12 Example Rd"),
        weedmaps("Copper Fern", "12 Example Rd").licence("A100"),
        store(3, "jane", "Copper Fern", "900 Granite Ave").licence("A100"),
        store(4, "leafly", "Copper Fern", "900 Granite Ave"),
    ];
    assert_eq!(groups(&proposals(stores)), [vec![1, 2, 3, 4]]);
}

fn with_decisions(retailers: Vec<KnownRetailer>, refused: Vec<[StoreId; 2]>) -> Proposals {
    let stores = vec![
        dutchie("Copper Fern", "12 Example Rd"),
        weedmaps("Copper Fern", "12 Example Rd"),
        store(3, "leafly", "Copper Fern", "12 Example Rd"),
    ];
    propose(&Input { stores, retailers, refused, register: vec![] })
}

#[test]
fn a_store_joins_a_known_retailer() {
    let known = KnownRetailer { id: 70, confirmed: vec![1], refused: vec![] };
    let proposals = with_decisions(vec![known], vec![]);
    let [Group { retailer, stores, links }] = &proposals.sure[..] else { panic!("{proposals:?}") };
    assert_eq!((*retailer, stores.as_slice(), links.len()), (Some(70), [2, 3].as_slice(), 2));
}

#[test]
fn a_refused_store_stays_out_of_a_retailer() {
    let known = KnownRetailer { id: 70, confirmed: vec![1, 2], refused: vec![3] };
    let proposals = with_decisions(vec![known], vec![]);
    assert_eq!((groups(&proposals), proposals.likely), (vec![vec![3]], vec![]));
}

#[test]
fn a_refused_pair_is_not_joined_by_a_third_store() {
    let proposals = with_decisions(vec![], vec![[2, 1]]);
    assert_eq!(groups(&proposals), [vec![1], vec![2], vec![3]]);
    assert_eq!(proposals.likely.iter().map(|link| link.stores).collect::<Vec<_>>(), [[1, 3], [2, 3]]);
}

#[test]
fn a_store_that_matches_two_known_retailers_is_left_to_a_person() {
    let known = |id, store| KnownRetailer { id, confirmed: vec![store], refused: vec![] };
    let proposals = with_decisions(vec![known(70, 1), known(80, 2)], vec![]);
    assert_eq!(proposals.sure, [Group { retailer: None, stores: vec![3], links: vec![] }]);
    assert_eq!(proposals.likely.iter().map(|link| link.stores).collect::<Vec<_>>(), [[1, 3], [2, 3]]);
}

fn entry(licence: &str, name: &str, address: &str) -> RegisterEntry {
    let [licence, name, address] = [licence, name, address].map(str::to_owned);
    RegisterEntry { licence, name, address, zip: Some("85201".to_owned()), ..RegisterEntry::default() }
}

#[rstest]
#[case::moved(
    dutchie("Copper Fern", "900 Granite Ave"),
    weedmaps("Copper Fern", "12 Example Rd").licence("A100"),
    &[entry("A-100", "Copper Fern LLC", "900 Granite Ave")],
    "sure: licence A-100 is registered at 900 Granite Ave, different addresses: 900 Granite Ave and 12 Example Rd, \
     same name, same city Mesa"
)]
#[case::renamed(
    dutchie("Tin Lantern", "12 Example Rd"),
    weedmaps("Copper Fern", "12 Example Rd").licence("A100"),
    &[entry("A-100", "Tin Lantern LLC", "12 Example Rd")],
    "sure: same address 12 Example Rd, Mesa, licence A-100 is registered for Tin Lantern LLC"
)]
#[case::moved_to_a_mall(
    dutchie("Harvest Health", "900 Granite Ave"),
    weedmaps("Harvest Buds", "12 Example Rd").licence("A100"),
    &[entry("A-100", "Harvest Buds LLC", "900 Granite Ave #7")],
    "likely: licence A-100 is registered at 900 Granite Ave #7, different addresses: 900 Granite Ave and 12 Example Rd, \
     names alike, same city Mesa"
)]
#[case::an_office(
    dutchie("Copper Fern", "900 Granite Ave"),
    weedmaps("Copper Fern", "12 Example Rd").licence("A100"),
    &[entry("A-100", "Copper Fern LLC", "900 Granite Ave"), entry("A-200", "Copper Fern LLC", "900 Granite Ave")],
    ""
)]
fn the_register_knows_addresses_and_names_of_licences(
    #[case] one: StoreRecord,
    #[case] other: StoreRecord,
    #[case] register: &[RegisterEntry],
    #[case] expected: &str,
) {
    let proposals = propose(&Input { stores: vec![one, other], register: register.to_vec(), ..Input::default() });
    assert_eq!(written(&proposals), expected);
}

#[test]
fn hostile_texts_are_shown_short_and_in_order() {
    let name = "\u{202e}x\n".repeat(5_000);
    let stores = [dutchie(&name, "12 Example Rd"), weedmaps("🌿🌿🌿", "12 Example Rd")];
    let evidence = written(&proposals(stores));
    assert!(evidence.len() < 200 && !evidence.contains(['\u{202e}', '\n']), "{evidence}");
}

#[test]
fn many_stores_at_one_address_are_compared_with_few() {
    let stores = (1..=20_000)
        .map(|id| StoreRecord { platform: format!("p{id}"), ..store(id, "", "Copper Fern", "12 Example Rd") });
    assert_eq!(proposals(stores).sure.len(), 20_000);
}
