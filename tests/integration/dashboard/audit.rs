//! The audit tells each change in a sentence.

use http::Method;
use http_body_util::Full;
use serde_json::{Value, json};

use super::world::World;

/// The sentences of the page, the newest first.
const SENTENCES: &str =
    "[...document.querySelectorAll('main tr[data-row] th')].map((each) => each.innerText.replace(/\\s+/g, ' ').trim())";

impl World {
    /// Makes a change by request from this machine.
    async fn calls(&self, method: Method, path: &str, body: Value) {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let request = self.server.request(method, path).header("content-type", "application/json");
        let answer = self.server.send(request.body(Full::from(body)).unwrap()).await;
        assert!(answer.status.is_success(), "{}", answer.text());
    }

    /// Waits until the newest change has this sentence.
    async fn tells(&self, sentence: &str) {
        let holds = format!("{SENTENCES}[0] === {}", json!(sentence));
        self.browser.until(&format!("the audit says {sentence:?}, not what it says"), &holds).await.unwrap();
    }
}

#[tokio::test]
async fn a_change_is_a_sentence() {
    let world = World::start().await;
    for (who, action, target, detail, sentence) in [
        (
            "alex",
            "pauses.create",
            "role payload_fetch",
            "jsonb_build_object('reason', 'upgrade', 'until', now() + interval '2 hours')",
            "alex paused the role payload_fetch for 2 h: upgrade",
        ),
        ("alex", "pauses.delete", "everything", "'{}'", "alex resumed everything"),
        ("alex", "tasks.retry", "801", r#"'{"was": "failed"}'"#, "alex retried task 801"),
        (
            "local",
            "schedules.trigger",
            "1",
            r#"'{"name": "all", "tasks": 2}'"#,
            "local triggered the schedule all, which created 2 tasks",
        ),
        (
            "command line",
            "proxies.delete",
            "9",
            r#"'{"address": "http://203.0.113.9:8080"}'"#,
            "The command line deleted proxy http://203.0.113.9:8080",
        ),
        ("alex", "workers.order", "w1", r#"'{"command": "decommission"}'"#, "alex decommissioned worker w1"),
        ("alex", "things.turn", "9", "'{}'", "alex did things.turn on 9"),
    ] {
        let sql = format!(
            "INSERT INTO audit_log (who, action, target, request_id, detail) VALUES ('{who}', '{action}', '{target}', 'a', {detail})"
        );
        world.execute(&sql).await;
        world.open("/admin/audit").await;
        world.tells(sentence).await;
    }
    world.sees("“local” is a caller on the server's machine").await;
    world.assert_no_errors().await;
}

#[tokio::test]
async fn a_changed_proxy_is_known_by_its_address() {
    let world = World::start().await;
    let (id, given) =
        (world.count("SELECT id FROM proxies WHERE host = '203.0.113.14'").await, "proxy http://203.0.113.14:3128");
    let path = format!("/api/proxies/{id}");
    world.calls(Method::PUT, &path, json!({ "is_active": false })).await;
    world.open("/admin/audit").await;
    world.tells(&format!("local switched off {given}")).await;
    world.calls(Method::DELETE, &path, Value::Null).await;
    world.open("/admin/audit").await;
    world.tells(&format!("local deleted {given}")).await;
    world.assert_no_errors().await;
}
