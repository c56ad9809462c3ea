//! Deliveries as their receivers see them: signed, in order, at least once, and again after a failure.

use std::ops::RangeInclusive;
use std::process::Stdio;
use std::time::Duration;

use contract::media::endpoints::Endpoint;
use domain::notification::NotificationState;
use domain::vocabulary::Word;
use foundation::webhook_signature::WebhookKey;
use queue::{Outcome, TaskError};
use rstest::rstest;
use serde_json::{Value, json};
use sim::media::{Delivery, HookAnswer, HookScript, Login, MediaPlan};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use super::tools::{SECRET, header, json_of, tries};
use crate::media::harness::{MediaHarness, tool_path};

const OTHER_SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX";
const PASSWORD: &str = "canary-of-a-mail-server";

#[track_caller]
fn done(ended: Result<Outcome, TaskError>) -> Value {
    let Ok(Outcome::Done(done)) = ended else { panic!("it is not done: {:?}", ended.err()) };
    done.result
}

/// Seconds of the first wait after a failure, which are 5: a part of them may have passed when the try ends.
const FIRST_WAIT: RangeInclusive<u64> = 3..=5;

#[track_caller]
fn seconds_of_wait(ended: Result<Outcome, TaskError>) -> u64 {
    let Err(TaskError::Snooze { after, .. }) = ended else { panic!("it does not wait: {:?}", ended.err()) };
    after.unwrap().as_secs_f64().round() as u64
}

#[tokio::test]
async fn a_webhook_is_signed_as_the_standard_says_also_with_the_previous_secret() {
    let harness = MediaHarness::start().await;
    let (new, old) = (harness.add_token("new", SECRET).await, harness.add_token("old", OTHER_SECRET).await);
    let target = harness.site.address("/hooks/jobs");
    let draft = json!({"name": "jobs", "kind": "webhook", "target": target, "credential_id": new, "previous_credential_id": old});
    let endpoint = harness.add_endpoint(draft).await;
    harness.tell(endpoint, 1).await;
    assert_eq!(done(harness.send(endpoint).await), json!({"delivered": 1, "failed_tries": 0}));

    let [delivery] = &harness.site.deliveries("jobs")[..] else { panic!("one delivery") };
    let [notification] = &harness.notifications(endpoint).await[..] else { panic!("one notification") };
    assert_eq!(
        (notification.state.clone(), notification.last_status),
        (Word::Known(NotificationState::Delivered), Some(200))
    );
    let id = header(delivery, "webhook-id");
    assert_eq!(id, notification.message_id);
    let time: i64 = header(delivery, "webhook-timestamp").parse().unwrap();
    let signatures =
        [SECRET, OTHER_SECRET].map(|secret| WebhookKey::parse(secret).unwrap().sign(id, time, &delivery.body).unwrap());
    assert_eq!(header(delivery, "webhook-signature"), signatures.join(" "));
    let body = json_of(delivery);
    assert_eq!((&body["type"], &body["data"]), (&json!("job.failed"), &notification.body));
    assert!(body["timestamp"].is_string(), "{body}");
    for secret in [SECRET, OTHER_SECRET] {
        verify_with_the_reference_library(delivery, secret).await;
    }
}

/// PyPI's `standardwebhooks`, which also refuses a time that is more than five minutes off.
pub(super) async fn verify_with_the_reference_library(delivery: &Delivery, secret: &str) {
    const PROGRAM: &str = "import json, sys; from standardwebhooks.webhooks import Webhook
given = json.load(sys.stdin); Webhook(given['secret']).verify(given['body'], given['headers']); print('verified')";
    let python = tool_path("python3");
    let is_there = Command::new(&python).args(["-c", "import standardwebhooks"]).stderr(Stdio::null()).status().await;
    if !testkit::is_there_or_skipped("standardwebhooks", is_there.is_ok_and(|status| status.success())) {
        return;
    }
    let names = ["webhook-id", "webhook-timestamp", "webhook-signature"];
    let headers: Value = names.iter().map(|name| (name.to_string(), json!(header(delivery, name)))).collect();
    let given = json!({"secret": secret, "body": String::from_utf8_lossy(&delivery.body), "headers": headers});
    let mut child = Command::new(python)
        .args(["-c", PROGRAM])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(given.to_string().as_bytes()).await.unwrap();
    let output = child.wait_with_output().await.unwrap();
    assert_eq!(
        String::from_utf8_lossy(&output.stdout).trim(),
        "verified",
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[tokio::test]
async fn ids_at_the_receiver_are_unique_in_the_world_and_the_same_in_every_try() {
    let (here, elsewhere) = (MediaHarness::start().await, MediaHarness::start().await);
    let mut ids = Vec::new();
    for harness in [&here, &elsewhere] {
        let endpoint = harness.add_webhook("ids").await;
        harness.site.script_hook("ids", HookScript::Once(vec![HookAnswer::Status(500)]));
        harness.tell(endpoint, 2).await;
        seconds_of_wait(harness.send(endpoint).await);
        harness.make_due().await;
        assert_eq!(done(harness.send(endpoint).await)["delivered"], 2);
        let tried: Vec<String> = tries(&harness.site.deliveries("ids")).into_iter().map(|(id, _)| id).collect();
        assert!(tried.len() == 3 && tried[0] == tried[1] && tried[1] != tried[2], "{tried:?}");
        ids.extend(tried.into_iter().skip(1));
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 4);
    assert!(ids.iter().all(|id| id.len() == "msg_".len() + 32), "{ids:?}");
}

#[tokio::test]
async fn a_notification_that_was_tried_before_ids_were_unique_keeps_its_own() {
    let harness = MediaHarness::start().await;
    let endpoint = harness.add_webhook("old").await;
    harness.tell(endpoint, 1).await;
    harness.database.raw.batch_execute("UPDATE notifications SET message_id = NULL, attempts = 1").await.unwrap();
    assert_eq!(done(harness.send(endpoint).await)["delivered"], 1);
    let id = harness.notifications(endpoint).await[0].id;
    assert_eq!(tries(&harness.site.deliveries("old")), [(format!("msg_{id}"), 200)]);
}

#[tokio::test]
async fn a_receiver_that_fails_half_of_the_time_gets_everything_in_order_under_the_same_ids() {
    let harness = MediaHarness::start().await;
    let endpoint = harness.add_webhook("half").await;
    harness.site.script_hook("half", HookScript::Cycle(vec![HookAnswer::Status(500), HookAnswer::Status(200)]));
    harness.tell(endpoint, 4).await;
    for _ in 0..4 {
        let wait = seconds_of_wait(harness.send(endpoint).await);
        assert!(FIRST_WAIT.contains(&wait), "{wait} s");
        harness.make_due().await;
    }
    assert_eq!(done(harness.send(endpoint).await)["delivered"], 1);
    let ids: Vec<String> = harness.notifications(endpoint).await.into_iter().map(|one| one.message_id).collect();
    let expected: Vec<(String, u16)> = ids.iter().flat_map(|id| [(id.clone(), 500), (id.clone(), 200)]).collect();
    assert_eq!(tries(&harness.site.deliveries("half")), expected);
}

#[tokio::test]
async fn the_last_try_ends_a_notification_and_the_next_one_goes_on() {
    let harness = MediaHarness::start().await;
    let endpoint = harness.add_webhook("away").await;
    harness.site.script_hook("away", HookScript::Once(vec![HookAnswer::Status(500)]));
    harness.tell(endpoint, 2).await;
    harness.database.raw.batch_execute("UPDATE notifications SET attempts = 9 WHERE subject = '1:1'").await.unwrap();
    assert_eq!(done(harness.send(endpoint).await), json!({"delivered": 1, "failed_tries": 1}));
    let states: Vec<_> = harness.notifications(endpoint).await.into_iter().map(|one| one.state).collect();
    assert_eq!(states, [NotificationState::Failed, NotificationState::Delivered].map(Word::Known));
}

#[tokio::test]
async fn a_receiver_is_given_the_time_that_it_asks_for() {
    let harness = MediaHarness::start().await;
    let endpoint = harness.add_webhook("busy").await;
    let throttled = HookAnswer::Throttled { retry_after: Some(Duration::from_secs(600)) };
    harness.site.script_hook("busy", HookScript::Once(vec![throttled]));
    harness.tell(endpoint, 1).await;
    assert!((598..=600).contains(&seconds_of_wait(harness.send(endpoint).await)));
    let [notification] = &harness.notifications(endpoint).await[..] else { panic!("one notification") };
    assert!(harness.waits(notification.id).await > 590.0);
    assert_eq!(notification.last_status, Some(429));
    harness.send(endpoint).await.map(drop).unwrap_err();
    assert_eq!(harness.site.deliveries("busy").len(), 1, "it was asked before its time");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let harness = MediaHarness::start().await;
    let endpoint = harness.add_webhook("moved").await;
    harness.site.script_hook("moved", HookScript::Once(vec![HookAnswer::Redirect]));
    harness.tell(endpoint, 1).await;
    seconds_of_wait(harness.send(endpoint).await);
    let error = harness.notifications(endpoint).await[0].last_error.clone().unwrap();
    assert!(error.contains("302") && error.contains("redirect"), "{error}");
    assert_eq!(harness.site.deliveries("moved").len(), 1);
}

#[tokio::test]
async fn a_receiver_that_is_gone_disables_its_endpoint_until_a_person_enables_it() {
    let harness = MediaHarness::start().await;
    let endpoint = harness.add_webhook("gone").await;
    harness.site.script_hook("gone", HookScript::Once(vec![HookAnswer::Status(410)]));
    harness.tell(endpoint, 2).await;
    assert_eq!(done(harness.send(endpoint).await), json!({"delivered": 0, "failed_tries": 1}));
    let disabled: Endpoint = harness.get(endpoint).await;
    assert!(!disabled.enabled && disabled.disabled_reason.as_ref().unwrap().contains("410"), "{disabled:?}");
    assert_eq!(done(harness.send(endpoint).await)["delivered"], 0);

    harness.database.raw.batch_execute("UPDATE notification_endpoints SET enabled = true").await.unwrap();
    assert_eq!(done(harness.send(endpoint).await)["delivered"], 2);
    let ids: Vec<String> = tries(&harness.site.deliveries("gone")).into_iter().map(|(id, _)| id).collect();
    assert!(ids.len() == 3 && ids[0] == ids[1], "{ids:?}");
}

#[tokio::test]
async fn a_test_has_one_try_before_others_and_ends_their_wait_if_it_arrives() {
    let harness = MediaHarness::start().await;
    let endpoint = harness.add_webhook("test").await;
    harness.site.script_hook("test", HookScript::Once(vec![HookAnswer::Status(500), HookAnswer::Status(403)]));
    harness.tell(endpoint, 1).await;
    seconds_of_wait(harness.send(endpoint).await);
    let insert_test = async || {
        let tx = harness.database.db.begin_api().await.unwrap();
        let test = db::notifications::insert_test(&tx, endpoint).await.unwrap();
        tx.commit().await.unwrap();
        test
    };
    let test = insert_test().await;
    seconds_of_wait(harness.send(endpoint).await);
    let found = harness.notifications(endpoint).await.into_iter().find(|one| one.id == test).unwrap();
    assert_eq!((found.state, found.last_status), (Word::Known(NotificationState::Failed), Some(403)));
    assert!(found.last_error.unwrap().contains("credential"));
    insert_test().await;
    assert_eq!(done(harness.send(endpoint).await)["delivered"], 2);
}

#[tokio::test]
async fn a_topic_of_ntfy_gets_a_title_and_the_error() {
    let token = "canary-of-ntfy";
    let harness = MediaHarness::facing(MediaPlan { ntfy_token: Some(token.to_owned()), ..MediaPlan::default() }).await;
    let credential = harness.add_token("phone", token).await;
    let target = harness.site.address("/ntfy/jobs");
    let draft = json!({"name": "phone", "kind": "ntfy", "target": target, "credential_id": credential});
    let endpoint = harness.add_endpoint(draft).await;
    harness.tell(endpoint, 1).await;
    assert_eq!(done(harness.send(endpoint).await)["delivered"], 1);
    let [message] = &harness.site.ntfy_messages("jobs")[..] else { panic!("one message") };
    assert_eq!(header(message, "title"), "Job 1 failed: scrape_account");
    assert_eq!((header(message, "priority"), header(message, "tags")), ("high", "warning"));
    assert_eq!(String::from_utf8_lossy(&message.body), "platform: site\nerror_message: away");
}

fn mail_plan() -> MediaPlan {
    MediaPlan { mail_login: Some(Login::new("drover", PASSWORD)), ..MediaPlan::default() }
}

#[tokio::test]
async fn a_mail_arrives_whole_at_everyone() {
    let harness = MediaHarness::facing(mail_plan()).await;
    let login = json!({"name": "mail", "platform": "notifications", "kind": "password", "username": "drover", "secret": PASSWORD});
    let credential = harness.add_credential(login).await;
    let server = harness.site.mail_address();
    let target = format!("smtp://{server}/?from=drover@a.example&to=ann@b.example&to=bea@c.example");
    let draft = json!({"name": "mail", "kind": "email", "target": target, "credential_id": credential});
    let endpoint = harness.add_endpoint(draft).await;
    harness.tell(endpoint, 1).await;
    assert_eq!(done(harness.send(endpoint).await)["delivered"], 1);
    let [mail] = &harness.site.mails()[..] else { panic!("one mail") };
    assert_eq!(
        (mail.from.as_str(), mail.to.as_slice()),
        ("drover@a.example", ["ann@b.example", "bea@c.example"].map(str::to_owned).as_slice())
    );
    assert_eq!(mail.login.as_ref().map(|login| login.username.as_str()), Some("drover"));
    let id = harness.notifications(endpoint).await.remove(0).message_id;
    let message_id = format!("Message-ID: <{id}@a.example>");
    for part in ["Subject: Job 1 failed: scrape_account", "error_message: away", message_id.as_str(), "Date: ", "To: "]
    {
        assert!(mail.data.contains(part), "{part} in {}", mail.data);
    }
}

#[tokio::test]
async fn a_mail_server_that_refuses_the_login_is_named_and_the_password_is_not() {
    let harness = MediaHarness::facing(mail_plan()).await;
    let login = json!({"name": "mail", "platform": "notifications", "kind": "password", "username": "drover", "secret": "canary-of-a-typo"});
    let credential = harness.add_credential(login).await;
    let target = format!("smtp://{}/?from=drover@a.example&to=ann@b.example", harness.site.mail_address());
    let draft = json!({"name": "mail", "kind": "email", "target": target, "credential_id": credential});
    let endpoint = harness.add_endpoint(draft).await;
    harness.tell(endpoint, 1).await;
    seconds_of_wait(harness.send(endpoint).await);
    let notification = harness.notifications(endpoint).await.remove(0);
    assert_eq!(notification.last_status, Some(535));
    let shown = serde_json::to_string(&notification).unwrap();
    assert!(shown.contains("credential") && !shown.contains("canary"), "{shown}");
}

#[rstest]
#[case::unreadable("UPDATE credentials SET platform = 'moved'", "cannot be read")]
#[case::not_encrypted("UPDATE credentials SET secret = 'whsec_canary'", "no encrypted secret")]
#[tokio::test]
async fn a_secret_that_cannot_be_read_is_a_failed_try_that_says_so(#[case] fault: &str, #[case] reason: &str) {
    let harness = MediaHarness::start().await;
    let endpoint = harness.add_webhook("secret").await;
    harness.tell(endpoint, 1).await;
    harness.database.raw.batch_execute(fault).await.unwrap();
    let wait = seconds_of_wait(harness.send(endpoint).await);
    assert!(FIRST_WAIT.contains(&wait), "{wait} s");
    let error = harness.notifications(endpoint).await[0].last_error.clone().unwrap();
    assert!(error.contains(reason) && !error.contains("canary"), "{error}");
    assert_eq!(harness.site.deliveries("secret").len(), 0);
}

#[tokio::test]
async fn no_secret_is_in_a_row() {
    let harness = MediaHarness::start().await;
    let endpoint = harness.add_webhook("rows").await;
    harness.site.script_hook("rows", HookScript::Once(vec![HookAnswer::Status(401)]));
    harness.tell(endpoint, 1).await;
    seconds_of_wait(harness.send(endpoint).await);
    let tables = [
        "notifications",
        "notification_endpoints",
        "notification_rules",
        "worker_tasks",
        "past_attempts",
        "credentials",
    ];
    for table in tables {
        let rows = harness.database.raw.query(&format!("SELECT r::text FROM {table} r"), &[]).await.unwrap();
        let shows = rows.iter().any(|row| row.get::<_, String>(0).contains("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"));
        assert!(!shows, "{table} has the secret");
    }
}
