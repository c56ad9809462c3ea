//! `appearances_sync`: the credits of watched people.

use contract::media::credentials::Credential;
use contract::media::people::{Person, PersonDraft};
use domain::task::role::Role;
use queue::TaskError;
use rstest::rstest;
use serde_json::{Value, json};
use sim::media::{AfterAnswer, Credit, MediaPlan, PersonPlan, RawAnswer, RawReceiver};

use super::harness::MediaHarness;

const PERSON: i64 = 42;

impl MediaHarness {
    pub async fn watch(&self, tmdb_id: i64) -> i64 {
        self.add::<Person>(PersonDraft { tmdb_id, name: "Ann".to_owned(), enabled: true }).await
    }

    pub async fn add_key(&self, key: &str) -> i64 {
        self.add_credential(json!({"name": "films", "platform": "tmdb", "kind": "token", "secret": key})).await
    }

    /// The rows of all credits, and whether each is gone, by their ids.
    async fn credits(&self) -> Vec<(Value, bool)> {
        let sql = "SELECT to_jsonb(a) - '{person_id,gone_at,created_at,updated_at}'::text[], gone_at IS NOT NULL
                     FROM appearances a
                    ORDER BY credit_id COLLATE \"C\"";
        let rows = self.database.raw.query(sql, &[]).await.unwrap();
        rows.iter().map(|row| (row.get(0), row.get(1))).collect()
    }

    fn oracle(&self) -> Vec<(Value, bool)> {
        let person = self.site.person(PERSON).unwrap();
        let mut credits: Vec<Credit> = person.cast.into_iter().chain(person.crew).collect();
        credits.sort_by(|a, b| a.credit_id.cmp(&b.credit_id));
        credits.into_iter().map(|credit| (row(credit), false)).collect()
    }
}

fn row(credit: Credit) -> Value {
    let Credit { credit_id, tmdb_id, media_type, title, character, department, job, episode_count, released_on } =
        credit;
    json!({
        "credit_id": credit_id, "tmdb_id": tmdb_id, "media_type": media_type, "title": title, "character": character,
        "department": department, "job": job, "episode_count": episode_count, "released_on": released_on,
    })
}

#[rstest]
#[case::a_token("tmdb.token")]
#[case::a_key("0123456789abcdef0123456789abcdef")]
#[tokio::test]
async fn the_credits_of_a_person_are_kept(#[case] key: &str) {
    let people = vec![PersonPlan { id: PERSON, cast: 40, crew: 20 }];
    let harness = MediaHarness::facing(MediaPlan { tmdb_key: key.to_owned(), people, ..MediaPlan::default() }).await;
    let oracle = harness.oracle();
    for field in ["character", "department", "job", "episode_count", "released_on"] {
        assert!(oracle.iter().any(|(row, _)| row[field].is_null()), "{field} is never empty");
        assert!(oracle.iter().any(|(row, _)| !row[field].is_null()), "{field} is always empty");
    }
    harness.watch(PERSON).await;
    harness.add_key(key).await;
    let synced = harness.settle(Role::AppearancesSync, json!({})).await;
    assert_eq!(synced.result, json!({"people": 1, "failed": 0, "added": oracle.len(), "gone": 0}));
    assert_eq!(harness.credits().await, oracle);
}

#[tokio::test]
async fn a_credit_that_is_gone_is_marked_and_stays() {
    let harness = MediaHarness::start().await;
    harness.watch(PERSON).await;
    harness.add_key("tmdb.token").await;
    harness.settle(Role::AppearancesSync, json!({})).await;
    let before = harness.oracle();
    let gone = before[0].0.clone();
    harness.site.remove_credit(PERSON, gone["credit_id"].as_str().unwrap()).unwrap();
    for expected in [1, 0] {
        let synced = harness.settle(Role::AppearancesSync, json!({})).await;
        assert_eq!(synced.result, json!({"people": 1, "failed": 0, "added": 0, "gone": expected}));
    }
    let credits = harness.credits().await;
    assert_eq!((&credits[0], &credits[1..]), (&(gone, true), &before[1..]));
}

#[tokio::test]
async fn a_person_who_is_unknown_fails_no_other() {
    let harness = MediaHarness::start().await;
    harness.watch(PERSON).await;
    let unknown = harness.watch(4711).await;
    harness.add_key("tmdb.token").await;
    let synced = harness.settle(Role::AppearancesSync, json!({})).await;
    assert_eq!((&synced.result["people"], &synced.result["failed"]), (&json!(2), &json!(1)));
    assert_eq!(harness.get::<Person>(unknown).await.last_error.as_deref(), Some("TMDb does not know this person"));
}

#[tokio::test]
async fn a_refused_key_ends_the_job_for_good() {
    let harness = MediaHarness::start().await;
    harness.watch(PERSON).await;
    harness.add_key("another.token").await;
    let refused = harness.run(Role::AppearancesSync, json!({})).await;
    assert!(matches!(refused, Err(TaskError::Permanent { reason }) if reason.contains("refuses the key")));
}

#[tokio::test]
async fn a_key_that_brought_no_answer_is_not_said_to_work() {
    let harness = MediaHarness::start().await;
    harness.watch(4711).await;
    let key = harness.add_key("tmdb.token").await;
    assert!(matches!(harness.run(Role::AppearancesSync, json!({})).await, Err(TaskError::Retry { .. })));
    assert_eq!(harness.get::<Credential>(key).await.last_result, None);
}

fn status(status: u16) -> RawAnswer {
    RawAnswer::new(format!("HTTP/1.1 {status} No\r\ncontent-length: 0\r\n\r\n"), AfterAnswer::Close)
}

fn cast(cast: &Value) -> RawAnswer {
    let body = json!({"cast": cast, "crew": []}).to_string();
    RawAnswer::new(format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len()), AfterAnswer::Close)
}

fn dusk(id: &str) -> Value {
    json!({"credit_id": id, "id": 7, "media_type": "movie", "title": "Dusk"})
}

/// A harness whose service gives these answers, one after the other.
async fn facing_answers(answers: Vec<RawAnswer>) -> (MediaHarness, RawReceiver) {
    let service = RawReceiver::start(answers).await.unwrap();
    let harness = MediaHarness::with(MediaPlan::default(), &[("media.tmdb_url", &service.url())]).await;
    harness.add_key("tmdb.token").await;
    (harness, service)
}

#[rstest]
#[tokio::test]
async fn a_person_whom_the_service_refuses_costs_no_other(#[values(403, 418, 500)] refusal: u16) {
    let (harness, _service) = facing_answers(vec![status(refusal), cast(&json!([dusk("a")]))]).await;
    let refused = harness.watch(PERSON).await;
    harness.watch(PERSON + 1).await;
    let synced = harness.settle(Role::AppearancesSync, json!({})).await;
    assert_eq!(synced.result, json!({"people": 2, "failed": 1, "added": 1, "gone": 0}));
    let reason = harness.get::<Person>(refused).await.last_error.unwrap();
    assert!(reason.contains(&refusal.to_string()), "{reason}");
}

#[tokio::test]
async fn a_job_whose_people_are_all_refused_is_not_tried_again() {
    let (harness, _service) = facing_answers(vec![status(403), status(403)]).await;
    harness.watch(PERSON).await;
    harness.watch(PERSON + 1).await;
    let refused = harness.run(Role::AppearancesSync, json!({})).await;
    assert!(matches!(refused, Err(TaskError::Permanent { reason }) if reason.contains("403")));
}

#[tokio::test]
async fn a_key_that_is_refused_later_takes_no_credit_back() {
    let (harness, _service) = facing_answers(vec![cast(&json!([dusk("a")])), status(401)]).await;
    harness.watch(PERSON).await;
    harness.watch(PERSON + 1).await;
    let refused = harness.run(Role::AppearancesSync, json!({})).await;
    assert!(matches!(refused, Err(TaskError::Permanent { reason }) if reason.contains("refuses the key")));
    assert_eq!(harness.credits().await.len(), 1);
}

#[rstest]
#[case::nothing(json!([]))]
#[case::other_ids(json!([{"credit_id": "A", "id": 7, "media_type": "movie", "title": "Dusk"}]))]
#[case::another_kind(json!([{"credit_id": "a", "id": 7, "media_type": "short", "title": "Dusk"}]))]
#[case::another_case(json!([{"credit_id": "a", "id": 7, "media_type": " Movie", "title": "Dusk"}]))]
#[tokio::test]
async fn an_answer_without_any_known_appearance_takes_none_away(#[case] answer: Value) {
    let (harness, _service) = facing_answers(vec![cast(&json!([dusk("a"), dusk("b")])), cast(&answer)]).await;
    let person = harness.watch(PERSON).await;
    harness.settle(Role::AppearancesSync, json!({})).await;
    let second = harness.settle(Role::AppearancesSync, json!({})).await.result;
    let gone: Vec<bool> =
        harness.credits().await.iter().filter(|(row, _)| row["credit_id"] != "A").map(|(_, gone)| *gone).collect();
    match answer[0]["credit_id"] == "a" {
        // it is there, whatever it is
        true => assert_eq!((gone, &second["gone"]), (vec![false, true], &json!(1))),
        false => {
            assert_eq!((gone, &second["kept"]), (vec![false, false], &json!(2)));
            let fault = harness.get::<Person>(person).await.last_error.unwrap();
            assert!(fault.contains("none of the 2 known appearances"), "{fault}");
        }
    }
}
