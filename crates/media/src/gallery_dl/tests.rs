//! `gallery_dl`: its command as it is given to gallery-dl, hostile lines, and the table of exit codes.

use proptest::prelude::*;
use rstest::rstest;

use super::*;
use crate::tool::How;

const WORK: &str = "/media/a1";

fn scrape(addresses: &[String]) -> Scrape<'_> {
    Scrape {
        addresses,
        scrape_type: ScrapeType::Recent,
        work: Path::new(WORK),
        archive: Path::new("/archives/alice.sqlite3"),
        credential: None,
        proxy: None,
        wait_after_429: DEFAULT_WAIT_AFTER_429,
    }
}

fn configuration_of(scrape: &Scrape) -> Value {
    serde_json::from_slice(&scrape.command("gallery-dl").unwrap().fd3.unwrap()).unwrap()
}

fn event(value: Value) -> Result<Event, LineError> {
    Event::read(value.to_string().as_bytes(), Path::new(WORK))
}

#[test]
fn addresses_are_on_stdin_and_secrets_in_the_configuration() {
    let addresses = ["https://a/b".to_owned(), "mastodon:http://127.0.0.1:1/@alice".to_owned()];
    let login = Login { username: "u".to_owned(), password: "canary".to_owned() };
    let credential = Credential { category: "mastodon".to_owned(), secret: Secret::Login(login) };
    let scrape = Scrape { credential: Some(credential), proxy: Some("http://a:geheim@b"), ..scrape(&addresses) };
    let command = scrape.command("gallery-dl").unwrap();
    assert_eq!(command.stdin, b"https://a/b\nmastodon:http://127.0.0.1:1/@alice\n");
    assert!(!format!("{:?}", command.args).contains("canary"));
    assert_eq!(command.secrets, ["canary", "geheim"]);
    let extractor = &configuration_of(&scrape)["extractor"];
    assert_eq!(extractor["mastodon"], json!({"username": "u", "password": "canary"}));
    assert_eq!(extractor["archive"], "/archives/alice.sqlite3");
    assert_eq!(extractor["postprocessors"][4]["event"], "after,post,skip,error");
}

#[rstest]
#[case(ScrapeType::Recent, json!("abort:20"))]
#[case(ScrapeType::Full, json!(true))]
fn a_recent_scrape_stops_at_what_is_known(#[case] scrape_type: ScrapeType, #[case] skip: Value) {
    let scrape = Scrape { scrape_type, ..scrape(&[]) };
    assert_eq!(configuration_of(&scrape)["extractor"]["skip"], skip);
}

#[rstest]
#[case::cookies(
    Secret::Cookies { file: "/jobs/cookies.txt".into(), secrets: vec!["b".to_owned()] },
    json!({"cookies": "/jobs/cookies.txt", "cookies-update": false})
)]
#[case::token(Secret::Token("t".to_owned()), json!({"access-token": "t"}))]
fn a_secret_is_for_its_site_alone(#[case] secret: Secret, #[case] expected: Value) {
    let credential = Credential { category: "site".to_owned(), secret };
    let scrape = Scrape { credential: Some(credential), ..scrape(&[]) };
    assert_eq!(configuration_of(&scrape)["extractor"]["site"], expected);
}

#[rstest]
#[case::reserved("archive")]
#[case::an_option_of_all_sites("headers")]
#[case::another("cookies")]
#[case::empty("")]
#[case::space("a b")]
fn a_category_replaces_no_other_setting(#[case] category: &str) {
    let credential = Credential { category: category.to_owned(), secret: Secret::Token("t".to_owned()) };
    let scrape = Scrape { credential: Some(credential), ..scrape(&[]) };
    assert!(matches!(scrape.command("x"), Err(InputError::BadCategory(_))));
}

#[rstest]
#[case::second_line("https://a\nhttps://b")]
#[case::option("-o extractor.x=1")]
#[case::comment("# https://a")]
#[case::file("file:///etc/passwd")]
#[case::file_of_links("r:file:///etc/passwd")]
#[case::two_families("r:r:http://a")]
#[case::empty("")]
fn an_address_is_nothing_more(#[case] address: &str) {
    assert!(scrape(&[address.to_owned()]).command("x").is_err());
}

#[test]
fn a_downloaded_file_is_read() {
    let line = json!({
        "drover_event": "after", "category": "mastodon", "id": 100, "num": 2, "title": " A title\0 ",
        "date": "2026-01-02 03:04:05", "drover_path": "/media/a1/mastodon_100_2.jpg", "drover_url": "http://a/b.jpg", "likes": 3,
    });
    let event = event(line).unwrap();
    assert_eq!(event.kind, EventKind::After);
    assert_eq!(event.id, ItemId { category: "mastodon".to_owned(), id: "100".to_owned(), num: 2 });
    assert_eq!(event.path.unwrap(), Path::new("/media/a1/mastodon_100_2.jpg"));
    assert_eq!((event.url.as_deref(), event.title.as_deref()), (Some("http://a/b.jpg"), Some("A title")));
    assert_eq!(event.posted_at.unwrap().to_rfc3339(), "2026-01-02T03:04:05+00:00");
    assert_eq!(event.metadata["likes"], 3);
    assert!(!event.metadata.keys().any(|name| name.starts_with("drover_")));
}

#[rstest]
#[case::no_json(b"Traceback", LineError::NoObject)]
#[case::torn(b"{\"drover_event\": \"aft", LineError::NoObject)]
#[case::no_object(b"[1]", LineError::NoObject)]
#[case::no_utf8(b"\xff", LineError::NoObject)]
#[case::no_event(b"{}", LineError::UnknownEvent)]
#[case::no_path(b"{\"drover_event\": \"after\"}", LineError::Missing("drover_path"))]
#[case::outside(b"{\"drover_event\": \"after\", \"drover_path\": \"/etc/passwd\"}", LineError::OutsidePath)]
#[case::no_category(b"{\"drover_event\": \"skip\"}", LineError::Missing("category"))]
#[case::no_id(b"{\"drover_event\": \"error\", \"category\": \"a\"}", LineError::Missing("filename"))]
fn a_line_that_is_no_event_says_why(#[case] line: &[u8], #[case] expected: LineError) {
    assert_eq!(Event::read(line, Path::new(WORK)).unwrap_err(), expected);
}

#[test]
fn a_post_and_a_file_without_id_are_read() {
    let post =
        event(json!({"drover_event": "post", "category": "a", "id": "b", "drover_path": "/elsewhere/c"})).unwrap();
    assert_eq!((post.kind, post.path, post.id.num), (EventKind::Post, None, 0));
    let skip =
        event(json!({"drover_event": "skip", "category": "a", "filename": "b", "drover_url": "text:c"})).unwrap();
    assert_eq!((skip.kind, skip.id.id.as_str(), skip.url), (EventKind::Skip, "b", None));
    let post = event(json!({"drover_event": "post", "category": "a"})).unwrap();
    assert_eq!((post.kind, post.id), (EventKind::Post, ItemId::default()));
}

#[rstest]
#[case::none(json!({}), "c_i_0")]
#[case::zero(json!({"num": 0}), "c_i_0")]
#[case::no_number(json!({"num": null}), "c_i_0")]
#[case::some(json!({"num": 3}), "c_i_3")]
#[case::an_id_of_zero(json!({"id": 0, "num": 3}), "c_f_3")]
#[case::an_empty_id(json!({"id": "", "num": 3}), "c_f_3")]
fn the_entry_of_a_file_is_the_one_that_the_tool_asks_for(#[case] changes: Value, #[case] entry: &str) {
    let mut line = json!({"drover_event": "skip", "category": "c", "id": "i", "filename": "f"});
    line.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    let id = event(line).unwrap().id;
    assert_eq!(ItemId::entry(&id.category, &id.of_category()), entry);
    // a word without quotes is the name of a field
    assert_eq!(configuration_of(&scrape(&[]))["extractor"]["archive-format"], "{category}_{id|filename}_{num|'0'}");
}

#[rstest]
#[case::done(0, Verdict::Done)]
#[case::unexpected(1, Verdict::Retry)]
#[case::usage(2, Verdict::Permanent { login: false })]
#[case::http(4, Verdict::Retry)]
#[case::challenge(8, Verdict::Permanent { login: true })]
#[case::login(16, Verdict::Permanent { login: true })]
#[case::format(32, Verdict::Permanent { login: false })]
#[case::unsupported(64, Verdict::Permanent { login: false })]
#[case::disk(128, Verdict::Retry)]
#[case::login_and_failed_files(4 | 16, Verdict::Permanent { login: true })]
#[case::unexpected_and_unsupported(1 | 64, Verdict::Retry)]
#[case::failed_files_and_disk(4 | 128, Verdict::Retry)]
#[case::sigterm_is_no_login(143, Verdict::Retry)]
#[case::sigint_is_no_usage(130, Verdict::Retry)]
fn an_exit_code_without_files_decides(#[case] code: i32, #[case] expected: Verdict) {
    assert_eq!(of_exit(code, false, false), expected);
}

#[rstest]
#[case::some_files_failed(4, true, false, Verdict::Done)]
#[case::one_of_them_not_found(4, true, true, Verdict::Done)]
#[case::account_not_found(4, false, true, Verdict::Permanent { login: false })]
#[case::disk_with_files(128, true, false, Verdict::Retry)]
#[case::login_with_files(16, true, false, Verdict::Permanent { login: true })]
#[case::unsupported_with_files(64, true, false, Verdict::Permanent { login: false })]
fn files_and_not_found_decide_with_it(
    #[case] code: i32,
    #[case] files_came: bool,
    #[case] not_found: bool,
    #[case] expected: Verdict,
) {
    assert_eq!(of_exit(code, files_came, not_found), expected);
}

#[rstest]
#[case(How::Exit(4), Verdict::Permanent { login: false })]
#[case(How::Signal(9), Verdict::Retry)]
#[case(How::TimedOut, Verdict::Retry)]
#[case(How::Hung, Verdict::Retry)]
#[case(How::Cancelled, Verdict::Retry)]
#[case(How::LineTooLong, Verdict::Permanent { login: false })]
fn every_end_has_a_verdict(#[case] how: How, #[case] expected: Verdict) {
    let first_error = Some("error\tmastodon\tNotFoundError: Requested account could not be found".to_owned());
    assert_eq!(verdict(&Ended { how, stderr: String::new(), first_error }, false), expected);
}

#[rstest]
#[case::logged("error\tmastodon\tNotFoundError:\tx", "mastodon: NotFoundError:\tx")]
#[case::not_logged("ModuleNotFoundError: No module named 'x'", "ModuleNotFoundError: No module named 'x'")]
fn an_error_message_is_for_people(#[case] first_error: &str, #[case] expected: &str) {
    let ended = Ended { how: How::Exit(4), stderr: String::new(), first_error: Some(first_error.to_owned()) };
    assert_eq!(error_message(&ended).as_deref(), Some(expected));
}

#[test]
fn an_error_without_a_cause_has_that_of_the_last_warning() {
    let stderr = "warning\tsite\t ProxyError: one\nwarning\tsite\t ProxyError: refused\nerror\tsite\tNone\n".to_owned();
    let ended = Ended { how: How::Exit(4), stderr, first_error: Some("error\tsite\tNone".to_owned()) };
    assert_eq!(error_message(&ended).as_deref(), Some("site: ProxyError: refused"));
    let ended = Ended { stderr: String::new(), ..ended };
    assert_eq!(error_message(&ended).as_deref(), Some("site: None"));
}

#[test]
fn unsupported_addresses_are_those_of_the_web() {
    let content = "https://a/b\n\nfile:///etc/passwd\nhttps://a b\nhttp://c\r\n";
    assert_eq!(unsupported(content), ["https://a/b", "http://c"]);
    assert_eq!(unsupported(&"https://a\n".repeat(2 * MAX_UNSUPPORTED)).len(), MAX_UNSUPPORTED);
}

proptest! {
    #[test]
    fn any_line_is_an_event_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = Event::read(&bytes, Path::new(WORK));
    }

    #[test]
    fn an_event_with_strange_values_stays_in_bounds(
        kind in "after|post|skip|error", path in "(/media/a1/)?.{0,20}", id in ".{0,900}", title in ".{0,900}", date in ".{0,30}",
        many in 0_usize..3000, long in 0_usize..90_000,
    ) {
        let mut line = json!({"drover_event": kind, "category": "c", "id": id, "title": title, "date": date, "drover_path": path,
            "long": "\u{1}".repeat(long)});
        for nth in 0..many {
            line[format!("field \" {nth}")] = json!([nth, {"a": "b\0"}]);
        }
        if let Ok(event) = event(line) {
            prop_assert!(Value::Object(event.metadata).to_string().len() <= printed::MAX_METADATA_BYTES);
            prop_assert!(event.path.is_none_or(|path| path.parent() == Some(Path::new(WORK))));
        }
    }
}
