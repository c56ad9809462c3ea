//! kill -9 of the sender again and again, while its receivers fail three times of four: each notification arrives at least
//! once, under one id, and in order for each endpoint.
//!
//! Four kills in the ordinary run; `DROVER_KILLS=50` is the long one.

use std::time::Duration;

use nix::sys::signal::Signal;
use sim::media::{HookAnswer, HookScript};
use testkit::{PATIENCE, until};

use super::tools::tries;
use crate::media::harness::MediaHarness;

const HOOKS: [&str; 2] = ["first", "second"];
const WHOLE: Duration = Duration::from_secs(120);

#[tokio::test]
async fn a_sender_that_is_killed_again_and_again_tells_everything_in_order() {
    let kills: usize = std::env::var("DROVER_KILLS").map_or(4, |text| text.parse().unwrap());
    // enough for every life of the sender
    let per_hook = 3 * kills as i64;
    let harness = MediaHarness::start().await;
    let mut endpoints = Vec::new();
    for hook in HOOKS {
        let endpoint = harness.add_webhook(hook).await;
        let failures = [HookAnswer::Status(500), HookAnswer::Redirect, HookAnswer::Throttled { retry_after: None }];
        let script = [&failures[..], &[HookAnswer::Slow(Duration::from_millis(50))]].concat();
        harness.site.script_hook(hook, HookScript::Cycle(script));
        harness.tell(endpoint, per_hook).await;
        endpoints.push(endpoint);
    }
    for kill in 0..kills {
        let before = harness.tries();
        let mut worker = harness.spawn_worker();
        until("it has sent some", PATIENCE, async || {
            harness.hasten().await;
            harness.tries() > before + kill % 3 || harness.pending().await == 0
        })
        .await;
        worker.signal(Signal::SIGKILL);
        worker.ended(PATIENCE).await;
    }
    let worker = harness.spawn_worker();
    until("everything is delivered", WHOLE, async || {
        harness.hasten().await;
        harness.pending().await == 0
    })
    .await;
    drop(worker);
    for (hook, endpoint) in HOOKS.iter().zip(endpoints) {
        harness.assert_in_order(hook, endpoint).await;
    }
}

impl MediaHarness {
    fn tries(&self) -> usize {
        HOOKS.iter().map(|hook| self.site.deliveries(hook).len()).sum()
    }

    async fn pending(&self) -> i64 {
        let sql = "SELECT count(*) FROM notifications WHERE state = 'pending'";
        self.database.raw.query_one(sql, &[]).await.unwrap().get(0)
    }

    /// No sender waits for the time of a later try.
    async fn hasten(&self) {
        let sql = "UPDATE notifications SET next_attempt_at = now() WHERE state = 'pending' AND next_attempt_at > now();
                   UPDATE worker_tasks SET scheduled_for = now() WHERE role = 'notify' AND status = 'pending' AND scheduled_for > now()";
        self.database.raw.batch_execute(sql).await.unwrap();
    }

    /// No notification is sent before the one in front of it has arrived.
    async fn assert_in_order(&self, hook: &str, endpoint: i64) {
        let ids: Vec<String> = self.notifications(endpoint).await.into_iter().map(|one| one.message_id).collect();
        let tries = tries(&self.site.deliveries(hook));
        let mut arrived = 0;
        for (id, status) in &tries {
            let place = ids.iter().position(|known| known == id).expect("an id of a row");
            assert!(place <= arrived, "{id} came before {} had arrived: {tries:?}", ids[arrived]);
            if place == arrived && *status == 200 {
                arrived += 1;
            }
        }
        assert_eq!(arrived, ids.len(), "{tries:?}");
    }
}
