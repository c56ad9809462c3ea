//! Answers with one odd element among others: the others are kept, and the odd one is counted and named.

use domain::task::role::Role;
use rstest::rstest;
use serde_json::{Value, json};
use sim::media::{AfterAnswer, MediaPlan, RawAnswer, RawReceiver};

use super::harness::MediaHarness;

const PERSON: i64 = 42;
const CHANNEL: &str = "UCabcdefghijklmnopqrstuv";

fn answer(kind: &str, body: &str) -> RawAnswer {
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n", body.len());
    RawAnswer::new(head + body, AfterAnswer::Close)
}

fn credit(id: &str) -> Value {
    json!({"credit_id": id, "id": 7, "media_type": "movie", "title": "Dusk", "release_date": "2026-03-01"})
}

fn credits(cast: &[Value]) -> RawAnswer {
    answer("application/json", &json!({"cast": cast, "crew": []}).to_string())
}

impl MediaHarness {
    async fn facing_service(setting: &'static str, answers: Vec<RawAnswer>) -> (MediaHarness, RawReceiver) {
        let service = RawReceiver::start(answers).await.unwrap();
        let harness = MediaHarness::with(MediaPlan::default(), &[(setting, &service.url())]).await;
        (harness, service)
    }

    async fn sync_people(&self) -> Value {
        self.settle(Role::AppearancesSync, json!({})).await.result
    }
}

#[tokio::test]
async fn an_odd_credit_costs_no_other_one_and_is_not_taken_for_gone() {
    let odd = json!({"credit_id": "b", "id": "no number", "media_type": "movie", "title": "Dusk"});
    let answers = vec![
        credits(&[credit("a"), credit("b"), credit("c")]),
        credits(&[credit("a"), odd.clone(), credit("d")]),
        credits(&[credit("a"), Value::Null]),
        credits(&[odd]),
    ];
    let (harness, _service) = MediaHarness::facing_service("media.tmdb_url", answers).await;
    harness.watch(PERSON).await;
    harness.add_key("tmdb.token").await;
    assert_eq!(harness.sync_people().await, json!({"people": 1, "failed": 0, "added": 3, "gone": 0}));

    let second = harness.sync_people().await;
    assert_eq!((&second["added"], &second["gone"], &second["odd"]), (&json!(1), &json!(1), &json!(1)));
    assert!(second["odd_elements"][0].as_str().unwrap().contains("credit \"b\""), "{second}");
    let gone = "SELECT count(*) FROM appearances WHERE gone_at IS NOT NULL AND credit_id <> 'c'";
    assert_eq!(harness.number(gone).await, 0);

    // one without an id may be any of them
    assert_eq!(harness.sync_people().await["gone"], 0);
    let all_odd = harness.run(Role::AppearancesSync, json!({})).await;
    assert!(all_odd.err().unwrap().to_string().contains("has an unexpected format"));
}

#[tokio::test]
async fn a_video_without_a_title_costs_no_other_one_and_is_found_once_it_has_one() {
    let entry = |id: &str, title: &str| {
        format!(
            "<entry><yt:videoId>{id}</yt:videoId><yt:channelId>{CHANNEL}</yt:channelId>{title}\
             <published>2026-11-01T10:00:00+00:00</published></entry>"
        )
    };
    let feed = |entries: &str| {
        let body = format!(
            "<feed xmlns:yt=\"http://www.youtube.com/xml/schemas/2015\" xmlns=\"http://www.w3.org/2005/Atom\">{entries}</feed>"
        );
        answer("text/xml", &body)
    };
    let titled = "<title>Salt</title>";
    let answers = vec![
        feed(&[entry("a", titled), entry("b", ""), entry("c", titled)].concat()),
        feed(&[entry("a", titled), entry("b", titled), entry("c", titled)].concat()),
    ];
    let (harness, _service) = MediaHarness::facing_service("media.youtube_url", answers).await;
    harness.watch_channel(CHANNEL).await;
    let poll = async || harness.settle(Role::YoutubeMonitor, json!({})).await.result;
    let first = poll().await;
    assert_eq!((&first["new"], &first["failed"], &first["odd"]), (&json!(2), &json!(0), &json!(1)));
    assert_eq!(first["odd_elements"], json!(["title of video b is missing"]));
    let second = poll().await;
    assert_eq!((&second["new"], &second["odd"]), (&json!(1), &Value::Null));
}

#[rstest]
#[case::no_colon("PHP Warning - startup\r\n")]
#[case::a_blank_before_the_colon("access-control-allow-credentials : true\r\n")]
#[case::odd_bytes_in_a_name("x-\u{fc}\u{1}: 1\r\n")]
#[case::folded("x-long: a\r\n b\r\n")]
#[case::many(&"x-policy: 1\r\n".repeat(300))]
#[tokio::test]
async fn a_header_line_that_browsers_skip_costs_no_answer(#[case] lines: &str) {
    let body = json!({"cast": [credit("a")], "crew": []}).to_string();
    let head = format!("HTTP/1.1 200\r\n{lines}content-length: {}\r\n\r\n", body.len());
    let answers = vec![RawAnswer::new(head + &body, AfterAnswer::Close)];
    let (harness, _service) = MediaHarness::facing_service("media.tmdb_url", answers).await;
    harness.watch(PERSON).await;
    harness.add_key("tmdb.token").await;
    assert_eq!(harness.sync_people().await, json!({"people": 1, "failed": 0, "added": 1, "gone": 0}));
}
