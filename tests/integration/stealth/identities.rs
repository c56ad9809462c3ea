//! The shipped fingerprints agree with themselves and with the rules; a wrong file is refused with all its
//! errors.

use std::collections::BTreeSet;

use drover::stealth::fingerprint::{Engine, Family, Os};
use drover::stealth::{Fingerprint, Identities, Identity, Protocol, RequestKind, SessionAsk, States, headers};
use rand::SeedableRng;
use rand::rngs::StdRng;
use rstest::rstest;

use super::support::{ForwardProxy, Manner, Origin, Setup, content, pool_of, request};

const SEEDS: [&str; 6] = [
    "chrome-131-windows",
    "chrome-131-macos",
    "chrome-120-windows",
    "firefox-133-windows",
    "firefox-133-macos",
    "safari-17.2-macos",
];

fn shipped() -> Identities {
    Identities::load(None).unwrap()
}

fn names(entry: &Fingerprint, protocol: Protocol) -> BTreeSet<String> {
    let names = RequestKind::ALL.into_iter().flat_map(|kind| entry.names(kind, &[], protocol).0);
    names.map(|name| name.to_ascii_lowercase()).collect()
}

#[test]
fn twelve_fingerprints_are_shipped() {
    let identities = shipped();
    let all = identities.all();
    let ids: BTreeSet<_> = all.iter().map(|entry| entry.id.as_str()).collect();
    assert_eq!((all.len(), ids.len()), (12, 12));
    assert!(SEEDS.iter().all(|seed| ids.contains(seed)), "{ids:?}");
    for family in [Family::Chrome, Family::Edge, Family::Firefox, Family::Safari] {
        assert!(all.iter().any(|entry| entry.family == family), "{family:?}");
    }
    for os in [Os::Windows, Os::Macos, Os::Linux] {
        assert!(all.iter().any(|entry| entry.os == os), "{os:?}");
    }
}

#[test]
fn only_chromium_sends_client_hints() {
    for entry in shipped().all() {
        let is_chromium = entry.engine == Engine::Blink;
        assert_eq!(entry.client_hints.is_some(), is_chromium, "{}", entry.id);
        for protocol in [Protocol::Http1, Protocol::Http2] {
            let hints = names(entry, protocol).iter().any(|name| name.starts_with("sec-ch-"));
            assert_eq!(hints, is_chromium, "{}", entry.id);
        }
    }
}

#[test]
fn zstd_priority_and_te_are_where_they_belong() {
    for entry in shipped().all() {
        let order = entry.order.as_str();
        let has = |name: &str, protocol| names(entry, protocol).contains(name);
        assert_eq!(entry.offers("zstd"), ["blink-131", "gecko-133"].contains(&order), "{}", entry.id);
        assert_eq!(has("priority", Protocol::Http1), ["gecko-133", "webkit-18"].contains(&order), "{}", entry.id);
        assert_eq!(
            has("priority", Protocol::Http2),
            ["gecko-133", "webkit-18", "blink-131"].contains(&order),
            "{}",
            entry.id
        );
        assert_eq!(has("te", Protocol::Http2), order == "gecko-133", "{}", entry.id);
        assert!(!has("te", Protocol::Http1), "{}", entry.id);
    }
}

#[test]
fn nothing_that_no_browser_sends_is_listed() {
    let never = [
        "dnt",
        "sec-gpc",
        "pragma",
        "cache-control",
        "upgrade-insecure-requests",
        "sec-fetch-user",
        "x-requested-with",
    ];
    for entry in shipped().all() {
        for protocol in [Protocol::Http1, Protocol::Http2] {
            let listed = names(entry, protocol);
            assert!(never.iter().all(|name| !listed.contains(*name)), "{}", entry.id);
        }
        assert!(!entry.user_agent.contains("Mobile"), "{}", entry.id);
    }
}

#[rstest]
#[case::us_chromium("chrome-131-windows", &["en-US", "en"], "en-US,en;q=0.9")]
#[case::us_firefox("firefox-133-linux", &["en-US", "en"], "en-US,en;q=0.5")]
#[case::us_safari("safari-18.4-macos", &["en-US", "en"], "en-US,en;q=0.9")]
#[case::spanish_chromium("edge-131-macos", &["es-US", "es", "en-US", "en"], "es-US,es;q=0.9,en-US;q=0.8,en;q=0.7")]
#[case::spanish_firefox("firefox-133-macos", &["es-US", "es", "en-US", "en"], "es-US,es;q=0.8,en-US;q=0.5,en;q=0.3")]
fn accept_language_follows_locale_and_engine(#[case] id: &str, #[case] languages: &[&str], #[case] sent: &str) {
    let identities = shipped();
    let entry = identities.all().iter().find(|entry| entry.id == id).unwrap();
    assert_eq!(entry.accept_language(&languages.iter().map(|&tag| tag.to_owned()).collect::<Vec<_>>()), sent);
}

#[rstest]
#[case::unknown_key("colour = 1", &["unknown key 'colour'"])]
#[case::unknown_order("[[fingerprint]]\nid = 'chrome-131-linux'\norder = 'blink-9'", &["chrome-131-linux: unknown order 'blink-9'"])]
#[case::unknown_key_of_an_entry("[[fingerprint]]\nid = 'chrome-131-linux'\nweigth = 1", &["chrome-131-linux: unknown key 'weigth'"])]
#[case::wrong_type("[[fingerprint]]\nid = 'chrome-131-linux'\nweight = -1", &["chrome-131-linux: "])]
#[case::no_value("[order.blink-131.graphql_get]\nh1 = ['Host', 'x-mystery']", &["x-mystery has no value", "user-agent has no place"])]
#[case::forbidden("[order.gecko-133.graphql_post]\nh2 = ['DNT', 'host']", &["dnt must not be sent", "host must not be sent", "DNT must be lower case"])]
#[case::twice("[order.gecko-133.graphql_post]\nh2 = ['te', 'te']", &["te occurs twice"])]
#[case::line_break("[[fingerprint]]\nid = 'safari-17.2-macos'\nuser_agent = \"a\\r\\nb\"", &["is not a header value", "user_agent does not say"])]
#[case::other_version("[[fingerprint]]\nid = 'chrome-131-linux'\nversion = '132'", &["chrome-132-linux", "Chrome/132", "client_hints.ua must be"])]
#[case::other_system("[[fingerprint]]\nid = 'chrome-131-linux'\nos = 'macos'", &["Macintosh", "client_hints.platform must be \"macOS\""])]
#[case::hints_of_firefox("[[fingerprint]]\nid = 'firefox-133-linux'\nclient_hints = { ua = 'a', mobile = '?0', platform = 'b' }", &["this family sends no client_hints"])]
#[case::mobile("[[fingerprint]]\nid = 'edge-131-macos'\nclient_hints = { mobile = '?1' }", &["client_hints.mobile must be ?0"])]
#[case::coding("[[fingerprint]]\nid = 'edge-131-macos'\naccept_encoding = ['compress']", &["compress cannot be decoded"])]
#[case::engine("[[fingerprint]]\nid = 'edge-131-macos'\nengine = 'gecko'", &["edge is not built on gecko"])]
#[case::schema("schema = 2", &["schema must be 1"])]
#[case::several_at_once("a = 1\nb = 2\n[order.x]\ngraphql_get = { h1 = [], h2 = [], h3 = [] }", &["'a'", "'b'", "h3", "graphql_post is missing"])]
#[case::no_kind_for_a_request("[kind.graphql_post]\nrequest = 'fetch'", &["no kind is for fetch_with_body"])]
#[case::no_toml("= 1", &["identities.toml: "])]
fn a_wrong_file_is_refused_with_all_its_errors(#[case] overlay: &str, #[case] errors: &[&str]) {
    let message = Identities::load(Some(overlay)).unwrap_err().to_string();
    for error in errors {
        assert!(message.contains(error), "'{error}' is not in: {message}");
    }
}

#[test]
fn a_file_without_a_weight_is_refused() {
    let retired = |entry: &std::sync::Arc<Fingerprint>| format!("[[fingerprint]]\nid = '{}'\nweight = 0\n", entry.id);
    let overlay: String = shipped().all().iter().map(retired).collect();
    assert!(Identities::load(Some(&overlay)).unwrap_err().to_string().contains("total weight is 0"));
}

#[test]
fn an_empty_list_of_an_overlay_counts() {
    assert!(Identities::load(Some("fingerprint = []")).unwrap_err().to_string().contains("total weight is 0"));
}

#[test]
fn a_draw_follows_the_weights() {
    let identities = shipped();
    let mut rng = StdRng::seed_from_u64(7);
    let drawn: Vec<_> = (0..10_000).map(|_| identities.draw(&mut rng, &[]).id.clone()).collect();
    for entry in identities.all() {
        let share = drawn.iter().filter(|id| **id == entry.id).count() as f64 / 100.0;
        assert!((share - f64::from(entry.weight)).abs() < 2.0, "{}: {share} % for weight {}", entry.id, entry.weight);
    }
}

#[test]
fn a_redraw_is_unused_and_of_another_family_while_one_is_left() {
    let identities = shipped();
    let family = |id: &String| identities.all().iter().find(|entry| entry.id == *id).unwrap().family;
    for seed in 0..200 {
        let mut rng = StdRng::seed_from_u64(seed);
        let mut used: Vec<String> = Vec::new();
        for _ in 0..12 {
            let left: Vec<_> = identities.all().iter().filter(|entry| !used.contains(&entry.id)).collect();
            let current = used.last().map(family);
            let other_left = left.iter().any(|entry| Some(entry.family) != current);
            let drawn = identities.draw(&mut rng, &used);
            assert!(
                !used.contains(&drawn.id) && (!other_left || Some(drawn.family) != current),
                "{used:?} {}",
                drawn.id
            );
            used.push(drawn.id.clone());
        }
        assert!(!identities.draw(&mut rng, &used).id.is_empty(), "used up, but still drawing");
    }
}

#[rstest]
#[case::chromium_before_its_tail("chrome-131-windows", "sec-fetch-site", -1)]
#[case::firefox_after_its_script_headers("firefox-133-windows", "x-apollo-operation-name", 1)]
#[case::safari_after_its_script_headers("safari-18.4-macos", "x-apollo-operation-name", 1)]
fn an_unrecorded_script_header_has_its_place_and_is_counted(#[case] id: &str, #[case] beside: &str, #[case] by: i32) {
    let identities = shipped();
    let entry = identities.all().iter().find(|entry| entry.id == id).unwrap();
    let identity = Identity::browser(entry.clone(), States::load(None).unwrap().of(None));
    let mut request = request(RequestKind::Fetch, "https");
    request.script_headers.push(("X-New", "1".to_owned()));
    let ordered = headers::ordered(&identity, Protocol::Http2, &request, &[]);
    let place = |name: &str| ordered.fields.iter().position(|(field, _)| field == name).unwrap() as i32;
    assert_eq!((place("x-new"), ordered.unrecorded), (place(beside) + by, 1));
}

#[test]
fn without_the_scripts_accept_chromium_puts_its_own_before_the_tail() {
    let identities = shipped();
    let identity = Identity::browser(identities.all()[0].clone(), States::load(None).unwrap().of(None));
    let mut request = request(RequestKind::Fetch, "https");
    request.script_headers.remove(0);
    let ordered = headers::ordered(&identity, Protocol::Http1, &request, &[]).fields;
    let tail = ordered.iter().position(|(name, _)| name == "Sec-Fetch-Site").unwrap();
    assert_eq!(ordered[tail - 1], ("Accept".to_owned(), "*/*".to_owned()));
    assert_eq!(ordered.iter().filter(|(name, _)| name.eq_ignore_ascii_case("accept")).count(), 1);
}

#[test]
fn every_state_has_a_zone_and_bounds_and_arizona_stands_in() {
    let states = States::load(None).unwrap();
    assert_eq!(states.iter().count(), 50 + 2, "the states, the District of Columbia, Puerto Rico");
    assert!(states.iter().all(|(_, state)| state.locale == "en-US" && state.bounds.is_some()));
    assert_eq!(states.of(Some("mi")).timezone, "America/Detroit");
    assert_eq!(states.of(None).timezone, "America/Phoenix");
    assert_eq!(states.of(Some("Ontario")).timezone, "America/Phoenix");
}

#[rstest]
#[case::no_such_default("default = 'ZZ'", "default 'ZZ'")]
#[case::unknown_key(
    "[AZ]\ntimezone = 'America/Phoenix'\nlocale = 'en-US'\nlanguages = ['en']\npoints = []\nmoon = 1",
    "AZ: "
)]
#[case::bad_point(
    "[AZ]\ntimezone = 'America/Phoenix'\nlocale = 'en-US'\nlanguages = ['en']\npoints = [[91.0, 0.0, 1.0]]",
    "AZ: a point"
)]
#[case::line_break(
    "[AZ]\ntimezone = 'America/Phoenix'\nlocale = 'en-US'\nlanguages = [\"en\\r\\nx: y\"]\npoints = []",
    "AZ: languages"
)]
fn a_wrong_table_of_states_is_refused(#[case] overlay: &str, #[case] error: &str) {
    let message = States::load(Some(overlay)).unwrap_err().to_string();
    assert!(message.contains(error), "{message}");
}

#[tokio::test]
async fn a_stores_own_timezone_beats_its_states() {
    let origin = Origin::plain().await;
    let proxy = ForwardProxy::http(origin.address, Manner::Willing).await;
    let pool = pool_of(&[&proxy]);
    let zone = "America/Denver".to_owned();
    let ask = SessionAsk { state: Some("ID".to_owned()), timezone: Some(zone.clone()), ..SessionAsk::default() };
    let mut session = Setup::default().sessions(&pool).open(ask);
    session.send(&request(RequestKind::Fetch, "http"), &content).await.unwrap();
    assert_eq!(session.timezone(), zone);
    assert_eq!((pool.asks()[0].state.as_deref(), pool.asks()[0].timezone.as_ref()), (Some("ID"), Some(&zone)));
}
