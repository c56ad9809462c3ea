//! `yt_dlp`: its options as yt-dlp reads them, hostile lines, and the table of exit codes.

use proptest::prelude::*;
use rstest::rstest;
use serde_json::json;

use super::*;
use crate::tool::How;

const WORK: &str = "/media/a1";

fn download(address: &str) -> Download<'_> {
    Download {
        address,
        work: Path::new(WORK),
        max_bytes: 1000,
        login: None,
        cookies: None,
        proxy: None,
        has_ffmpeg: false,
        script_runtime: None,
    }
}

fn options_of(download: &Download) -> String {
    String::from_utf8(download.command("yt-dlp").unwrap().stdin).unwrap()
}

fn line(value: Value) -> Result<Line, LineError> {
    Line::read(value.to_string().as_bytes(), Path::new(WORK))
}

#[test]
fn options_and_address_are_on_stdin() {
    let login = Login { username: "u".to_owned(), password: "it's #1 $HOME".to_owned() };
    let with_all = Download {
        login: Some(login),
        cookies: Some(Path::new("/media/a1/cookies.txt")),
        proxy: Some("http://a:geheim@b"),
        has_ffmpeg: true,
        script_runtime: Some(ScriptRuntime::Node),
        ..download("https://a/b?c='d'")
    };
    let command = with_all.command("yt-dlp").unwrap();
    assert_eq!(command.args, ["--ignore-config", "--config-locations", "-"]);
    assert_eq!(command.secrets, ["it's #1 $HOME", "geheim"]);
    let options = options_of(&with_all);
    let last = "--password 'it'\\''s #1 $HOME'\n--cookies '/media/a1/cookies.txt'\n--proxy 'http://a:geheim@b'\n\
        --js-runtimes 'node'\n'https://a/b?c='\\''d'\\'''\n";
    assert!(options.ends_with(last), "{options}");
    assert!(!options.contains("-f b"));
    assert!(options_of(&download("https://a")).contains("--max-filesize 1000\n-f b\n'https://a'\n"));
}

#[rstest]
#[case::second_line("https://a\n--exec=x")]
#[case::option("--exec=x")]
#[case::file("file:///etc/passwd")]
#[case::search("ytsearch:a")]
fn an_address_is_no_option(#[case] address: &str) {
    assert!(download(address).command("x").is_err());
}

#[rstest]
#[case::user_name("a\nb", "c", "the user name")]
#[case::password("a", "b\r\n--exec=x", "the password")]
fn a_login_is_no_option(#[case] username: &str, #[case] password: &str, #[case] named: &'static str) {
    let login = Login { username: username.to_owned(), password: password.to_owned() };
    let error = Download { login: Some(login), ..download("https://a") }.command("x").err().unwrap();
    assert_eq!(error, InputError::ControlCharacter(named));
}

#[rstest]
#[case::known(json!({"bytes": 5, "total": 10}), 5, Some(10))]
#[case::unknown(json!({"bytes": 5, "total": 0}), 5, None)]
#[case::missing(json!({"bytes": 0}), 0, None)]
fn progress_is_read(#[case] value: Value, #[case] bytes: u64, #[case] total: Option<u64>) {
    assert_eq!(line(value).unwrap(), Line::Progress { bytes, total });
}

#[test]
fn a_file_is_read() {
    let value = json!({
        "id": "abc", "title": "A", "filepath": "/media/a1/Youtube-abc.mp4", "ext": "mp4", "width": 640, "height": 360,
        "duration": 12.5, "timestamp": 1700000000, "extractor_key": "Youtube", "webpage_url": "https://a/abc",
    });
    let Line::Item(item) = line(value.clone()).unwrap() else { panic!("no item") };
    assert_eq!((item.extractor.as_str(), item.id.as_str(), item.title.as_deref()), ("Youtube", "abc", Some("A")));
    assert_eq!(item.path, Path::new("/media/a1/Youtube-abc.mp4"));
    assert_eq!(
        (item.width, item.height, item.duration, item.posted_at),
        (Some(640), Some(360), Some(12_500), Some(1_700_000_000))
    );
    assert_eq!((item.page.as_deref(), Value::Object(item.metadata)), (Some("https://a/abc"), value));
}

#[rstest]
#[case::noise(b"[download] 100%", LineError::NoObject)]
#[case::no_file(b"{\"id\": \"a\"}", LineError::Missing("filepath"))]
#[case::outside(b"{\"filepath\": \"/media/a1/../x\"}", LineError::OutsidePath)]
#[case::negative(b"{\"bytes\": -1}", LineError::Missing("filepath"))]
#[case::no_site(b"{\"filepath\": \"/media/a1/x\"}", LineError::Missing("extractor_key"))]
fn a_line_that_is_neither_says_why(#[case] bytes: &[u8], #[case] expected: LineError) {
    assert_eq!(Line::read(bytes, Path::new(WORK)).unwrap_err(), expected);
}

const BLOCKED: &str =
    "ERROR: [youtube] x: Sign in to confirm you\u{2019}re not a bot. Use --cookies for the authentication";
const LOGIN: &str = "ERROR: [x] 1: Sign in. Use --cookies-from-browser or --cookies for the authentication";

#[rstest]
#[case::done(0, true, "", Verdict::Done)]
#[case::too_large(0, false, "", Verdict::Permanent { login: false })]
#[case::error(1, false, "ERROR: [generic] x: HTTP Error 429: Too Many Requests", Verdict::Retry)]
#[case::error_after_a_file(1, true, "ERROR: x", Verdict::Retry)]
#[case::login(1, false, LOGIN, Verdict::Permanent { login: true })]
#[case::blocked(1, false, BLOCKED, Verdict::Retry)]
#[case::unauthorized(1, false, "ERROR: HTTP Error 401: Unauthorized", Verdict::Permanent { login: true })]
#[case::not_found(1, false, "ERROR: HTTP Error 404: Not Found", Verdict::Permanent { login: false })]
#[case::unsupported(1, false, "ERROR: Unsupported URL: https://a", Verdict::Permanent { login: false })]
#[case::usage(2, false, "yt-dlp: error: no such option: --bogus", Verdict::Permanent { login: false })]
#[case::limit(101, true, "", Verdict::Done)]
#[case::sigterm(143, false, "", Verdict::Retry)]
#[case::unknown(100, false, "", Verdict::Retry)]
fn an_exit_code_decides(#[case] code: i32, #[case] files_came: bool, #[case] error: &str, #[case] expected: Verdict) {
    let ended = Ended { how: How::Exit(code), stderr: String::new(), first_error: Some(error.to_owned()) };
    assert_eq!(verdict(&ended, files_came), expected);
    assert_eq!(error_message(&ended).unwrap(), error.trim_start_matches("ERROR: "));
}

proptest! {
    #[test]
    fn any_line_is_read_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = Line::read(&bytes, Path::new(WORK));
    }

    #[test]
    fn numbers_of_any_size_are_no_panic(width in any::<u64>(), duration in any::<f64>(), timestamp in any::<f64>()) {
        let _ = line(json!({"id": "a", "filepath": "/media/a1/a", "extractor_key": "b", "width": width, "duration": duration,
            "timestamp": timestamp}));
    }

    /// A shell's reading of the options is one word for each value, whatever is in it.
    #[test]
    fn a_password_stays_one_word(password in "[^\\p{Cc}\u{2028}\u{2029}]{1,40}") {
        let login = Login { username: "u".to_owned(), password: password.clone() };
        let options = options_of(&Download { login: Some(login), ..download("https://a") });
        prop_assert_eq!(options.lines().count(), options_of(&download("https://a")).lines().count() + 2);
        let line = options.lines().find_map(|line| line.strip_prefix("--password ")).unwrap();
        let unquoted: String = line[1..line.len() - 1].split(r"'\''").collect::<Vec<_>>().join("'");
        prop_assert_eq!(unquoted, password);
    }
}
