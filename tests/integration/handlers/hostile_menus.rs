//! Menus that are odd, endless, repeated, halved or another store's: good products are kept, bad ones
//! counted, and an answer that is not a menu leaves nothing.

use domain::task::role::Role;
use queue::TaskError;
use rstest::rstest;
use serde_json::json;
use sim::{Fault, FaultKind, Settings, Simulator};

use super::harness::HandlerHarness;
use super::simulated::{become_store, crawl, expected, harness, records, simulator};

async fn world(products: usize) -> (Simulator, HandlerHarness) {
    let sim = simulator(Settings { stores: 2, products_per_store: products..=products, ..Settings::default() });
    let harness = harness(&sim).await;
    let seed = sim.stores()[0].clone();
    become_store(&harness, &seed, Some(&seed.platform_dispensary_id)).await;
    (sim, harness)
}

fn nested(depth: usize) -> String {
    "[".repeat(depth) + &"]".repeat(depth)
}

/// An item that is not a product, beside its neighbours: the fault is reported, and nothing else is lost.
#[rstest]
#[case::no_objects(r#"null"#, "unreadable_item")]
#[case::a_number(r#"-1e999"#, "unreadable_item")]
#[case::a_text(r#""\ud800""#, "unreadable_item")]
#[case::a_list(r#"[{"_id":"odd"}]"#, "unreadable_item")]
#[case::without_an_id(r#"{"Name":"odd"}"#, "unreadable_item")]
#[case::with_an_object_for_an_id(r#"{"_id":{"$oid":"odd"}}"#, "unreadable_item")]
#[case::with_an_id_that_no_index_takes(&format!(r#"{{"_id":"{}"}}"#, "x".repeat(5000)), "unreadable_item")]
#[case::deep_in_lists(&nested(100_000), "unreadable_item")]
#[tokio::test]
async fn a_bad_item_is_counted_and_its_neighbours_are_kept(#[case] item: &str, #[case] kind: &str) {
    let (sim, harness) = world(30).await;
    sim.add_fault(Fault::new(FaultKind::OddItems(vec![item.to_owned()])));
    let refreshed = crawl(&harness).await;
    assert_eq!(refreshed.result["warnings"][kind], 1, "{}", refreshed.result);
    assert_eq!(records(&harness).await, expected(&sim, 1));
}

/// Fields that no product should have: it is kept without them.
#[rstest]
#[case::duplicate_keys(r#"{"_id":"first","Name":"a","Name":"b","_id":"odd","Options":["1g"],"Options":["2g","2g"]}"#)]
#[case::half_a_character_in_a_text(r#"{"_id":"odd","Name":"\ud800","brandName":"a\udfffb"}"#)]
#[case::half_a_character_in_the_id(r#"{"_id":"od\udc00d"}"#)]
#[case::half_a_character_in_a_key(r#"{"_id":"odd","\ud800":1,"Name":"\u0000"}"#)]
#[case::deep_in_a_field(&format!(r#"{{"_id":"odd","specialData":{0},"brand":{0},"\u0000":{0}}}"#, nested(50_000)))]
#[case::numbers_beyond_all(r#"{"_id":"odd","Options":["1g"],"Prices":[1e999],"recPrices":[-1e999],"medicalPrices":[123456789012345678901234567890]}"#)]
#[case::times_beyond_all(r#"{"_id":"odd","createdAt":"999999999999999999999","updatedAt":"-271821-04-20T00:00:00Z"}"#)]
#[case::a_text_of_megabytes(&format!(r#"{{"_id":"odd","Name":"{0}","{0}":"{0}","Options":["{0}"]}}"#, "x".repeat(2 << 20)))]
#[tokio::test]
async fn an_odd_item_is_kept_beside_its_neighbours(#[case] item: &str) {
    let (sim, harness) = world(30).await;
    let fault = sim.add_fault(Fault::new(FaultKind::OddItems(vec![item.to_owned()])));
    let mut refreshed = Vec::new();
    for _ in 0..2 {
        refreshed.push(crawl(&harness).await.result);
    }
    let mut kept = records(&harness).await;
    assert!(kept.remove("odd").or_else(|| kept.remove("od\u{fffd}d")).is_some(), "{refreshed:?}");
    assert_eq!(kept, expected(&sim, 1));
    assert_eq!(refreshed[1]["changed"], 0, "the same again changes nothing: {refreshed:?}");
    sim.remove_fault(fault);
}

#[tokio::test]
async fn a_document_that_is_no_menu_fails_the_task() {
    let (sim, harness) = world(30).await;
    let cases: [(&str, &str); 16] = [
        ("nothing", ""),
        ("null", "null"),
        ("a list", "[]"),
        ("a text", r#""menu""#),
        ("no number", "NaN"),
        ("without data", "{}"),
        ("null data", r#"{"data":null}"#),
        ("a null menu", r#"{"data":{"filteredProducts":null}}"#),
        ("null products", r#"{"data":{"filteredProducts":{"products":null,"queryInfo":{"totalCount":0}}}}"#),
        ("products by name", r#"{"data":{"filteredProducts":{"products":{"0":{}},"queryInfo":{"totalCount":1}}}}"#),
        ("two documents", r#"{"data":{"filteredProducts":{"products":[],"queryInfo":{"totalCount":0}}}}{}"#),
        ("two menus", r#"{"data":{"filteredProducts":{"products":[]}},"data":{"filteredProducts":{"products":[]}}}"#),
        ("a comma too much", r#"{"data":{"filteredProducts":{"products":[{"_id":"a"},]}}}"#),
        ("cut off", r#"{"data":{"filteredProducts":{"products":[{"_id":"a""#),
        ("another answer", r#"{"status":"ok"}"#),
        ("deep", &nested(1_000_000)),
    ];
    for (case, body) in cases {
        println!("{case}");
        let (fault, before) = (sim.add_fault(Fault::new(FaultKind::Body(body.to_owned()))), sim.counts().faults);
        let ended = harness.run(Role::PayloadFetch, json!({})).await;
        assert!(matches!(ended, Err(TaskError::Retry { .. })), "{:?}", ended.err());
        assert_eq!(harness.store.count("SELECT count(*) FROM raw_crawl_payloads").await, 0);
        assert_eq!(harness.files(), 0);
        assert!(sim.counts().faults > before, "the platform was asked");
        sim.remove_fault(fault);
    }
}

#[rstest]
#[case::repeated(FaultKind::RepeatedPage, "the crawl holds 100 of ")]
#[case::endless(FaultKind::EndlessPages, "the menu has more than 40 pages")]
#[case::announced_without_end(FaultKind::AnnouncedTotal(100_000), "of 100,000 products")]
#[case::nothing_announced(FaultKind::AnnouncedTotal(0), "did not announce")]
#[case::too_few_announced(FaultKind::AnnouncedTotal(1), "but fewer were announced: 1")]
#[case::of_another_store(FaultKind::OtherStore, "wrong_store")]
#[case::less_than_half(FaultKind::HalfMenu, "suspicious: the menu holds ")]
#[case::growing(FaultKind::GrowingTotal, "of ")]
#[case::shifting(FaultKind::LostToTies, "of ")]
#[tokio::test]
async fn a_menu_that_is_not_the_whole_of_this_store_leaves_no_payload_and_counts_no_miss(
    #[case] kind: FaultKind,
    #[case] says: &str,
) {
    let (sim, harness) = world(450).await;
    crawl(&harness).await;
    let fault = sim.add_fault(Fault::new(kind));
    let ended = harness.run(Role::PayloadFetch, json!({})).await;
    let Err(TaskError::Retry { reason, .. }) = ended else { panic!("{:?}", ended.err()) };
    assert!(reason.contains(says), "{reason}");
    assert_eq!(harness.store.count("SELECT count(*) FROM raw_crawl_payloads").await, 1);
    assert_eq!(harness.files(), 1);

    sim.remove_fault(fault);
    assert_eq!(crawl(&harness).await.result["missed"], 0);
    assert_eq!(records(&harness).await, expected(&sim, 1));
}
