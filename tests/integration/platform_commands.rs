//! `drover platforms`: the platforms with their keys and hashes, and the setting by which a platform answers.

use std::process::Output;

use domain::store::Platform;
use serde_json::{Value, json};
use testkit::Farm;

async fn run(farm: &Farm, args: &[&str], settings: &[(&str, &str)]) -> Output {
    let mut command = farm.drover(&["platforms"]);
    command.args(args).envs(settings.iter().copied()).output().await.unwrap()
}

fn said(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat()
}

fn answer(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", said(output)))
}

fn of<'a>(platforms: &'a Value, platform: &str) -> &'a Value {
    let mut all = platforms["platforms"].as_array().unwrap().iter();
    all.find(|listed| listed["platform"] == platform).unwrap()
}

#[tokio::test]
async fn platforms_are_listed_with_the_state_of_their_keys_and_hashes_and_without_the_keys() {
    const KEY: &str = "canary-of-a-key";
    let farm = Farm::with_stores(2).await.without_schedules().await;
    farm.execute("UPDATE dispensaries SET platform = 'jane' WHERE id = (SELECT min(id) FROM dispensaries)").await;
    for row in [
        "INSERT INTO key_reads (platform, begun_at, next_read_at, dispensary_id, ended_at)
         VALUES ('jane', now(), now() + interval '1 hour', 7, now())",
        "INSERT INTO rotating_values (platform, name, value, sealed) VALUES ('jane', 'key', 'digest', 'canary-of-a-sealed-key')",
        "INSERT INTO rotating_values (platform, name, value, last_success_at)
         VALUES ('dutchie', 'FilteredProducts', repeat('0', 64), now())",
    ] {
        farm.execute(row).await;
    }
    let settings = [("DROVER__PLATFORM__DUTCHIE_PLUS__KEY", KEY)];
    let listed = run(&farm, &["list", "--json"], &settings).await;
    let platforms = answer(&listed);
    let jane = of(&platforms, "jane");
    assert_eq!((&jane["stores"], &jane["enabled"], &jane["identity"]), (&json!(1), &json!(true), &json!("browser")));
    let read = &jane["key"]["read"];
    assert_eq!((&read["store"], &read["is_shared"], &read["failure"]), (&json!(7), &json!(true), &Value::Null));
    assert_eq!(of(&platforms, "dutchie_plus")["key"]["configured"], true);
    assert_eq!(of(&platforms, "weedmaps")["enabled"], false);
    let hashes = &of(&platforms, "dutchie")["hashes"];
    assert_eq!((&hashes[0]["operation"], &hashes[0]["hashes"]), (&json!("FilteredProducts"), &json!(1)));
    assert!(hashes[0]["last_success_at"].is_string());

    let table = run(&farm, &[], &settings).await;
    assert!(said(&table).contains("read from the page of store 7"), "{}", said(&table));
    for output in [listed, table] {
        assert_eq!(output.status.code(), Some(0));
        assert!(!said(&output).contains("canary") && !said(&output).contains("digest"), "{}", said(&output));
    }
}

#[tokio::test]
async fn a_check_finds_the_client_that_a_platform_answers_though_it_is_switched_off() {
    let farm = Farm::with_stores(1).await.without_schedules().await;
    let menu = farm.sim.stores_of(Platform::Weedmaps).remove(0).menu_url;
    let settings = [
        ("DROVER__PLATFORM__WEEDMAPS__BASE_URL", farm.sim.base_url()),
        ("DROVER__PLATFORM__WEEDMAPS__PAGE_URL", farm.sim.base_url()),
        ("DROVER__HTTP__OWN_CONTACT", "https://copperfern.example/crawler"),
    ];
    let checked = run(&farm, &["check", "weedmaps", "--store", &menu, "--json"], &settings).await;
    let report = answer(&checked);
    let checks = report["checks"].as_array().unwrap();
    let seen: Vec<_> = checks.iter().map(|check| (&check["identity"], &check["status"], &check["class"])).collect();
    assert_eq!(seen, [(&json!("browser"), &json!(406), &json!("blocked")), (&json!("own"), &json!(200), &json!("ok"))]);
    assert!(report["verdict"].as_str().unwrap().starts_with("works: platform.weedmaps.identity = \"own\""), "{report}");
    assert_eq!(checked.status.code(), Some(0));
    assert_eq!(farm.sim.counts().direct, 0);

    let without_contact = run(&farm, &["check", "weedmaps", "--store", &menu], &settings[..2]).await;
    assert_eq!(without_contact.status.code(), Some(1), "{}", said(&without_contact));
    assert!(said(&without_contact).contains("no setting works for weedmaps"), "{}", said(&without_contact));
    assert!(said(&without_contact).contains("http.own_contact is not set"), "{}", said(&without_contact));
}

#[tokio::test]
async fn proxies_are_checked_at_the_platform_that_is_named() {
    let farm = Farm::with_stores(1).await.without_schedules().await;
    let settings = [
        ("DROVER__PLATFORM__WEEDMAPS__ENABLED", "true"),
        ("DROVER__PLATFORM__WEEDMAPS__BASE_URL", farm.sim.base_url()),
        ("DROVER__HTTP__OWN_CONTACT", "https://copperfern.example/crawler"),
    ];
    let mut command = farm.drover(&["proxies", "check", "--platform", "weedmaps"]);
    let checked = command.envs(settings).output().await.unwrap();
    assert_eq!(checked.status.code(), Some(0), "{}", said(&checked));
    let counts = farm.sim.counts();
    assert_eq!((counts.platforms.weedmaps.stores, counts.direct), (counts.requests, 0));
    assert!(counts.requests > 0);
}
