//! Tasks that wait for a host whose breaker is open, and their wake-up.

use db::hosts;
use db::tasks::{AttemptOutcome, Settlement};
use rstest::rstest;

use super::*;

const HOST: &str = "menu.test";

impl Queue {
    /// The host's breaker is open, and that many tasks of its stores wait for an hour. It is asked twice a
    /// second.
    async fn waiting_for_host(&self, count: i64) -> Vec<TaskId> {
        let ids = self.enqueue(&(1..=count).map(fetch).collect::<Vec<_>>()).await;
        hosts::exchange(&self.database.db, HOST, |state, now| state.open_by_hand(None, None, now)).await.unwrap();
        self.sql("UPDATE hosts SET rate = 2").await;
        for task in self.claim(&Role::CRAWL, 100).await {
            self.settle(&task, &waits(HOST)).await.unwrap();
        }
        assert!(self.due_in(ids[0]).await > 3500.0);
        ids
    }

    /// Seconds from the time of one task to that of another.
    async fn due_after(&self, first: TaskId, then: TaskId) -> f64 {
        let sql = "SELECT extract(epoch FROM t.scheduled_for - f.scheduled_for)::float8
                     FROM worker_tasks f, worker_tasks t WHERE f.id = $1 AND t.id = $2";
        self.database.raw.query_one(sql, &[&first, &then]).await.unwrap().get(0)
    }
}

fn waits(host: &str) -> Settlement {
    Settlement {
        retry_after: Duration::from_secs(3600),
        waits_for_host: Some(host.to_owned()),
        ..Settlement::new(AttemptOutcome::Snoozed, Some("menu.test refuses".to_owned()))
    }
}

#[rstest]
#[case::by_hand("")]
#[case::at_psql("UPDATE hosts SET breaker = 'closed'")]
#[case::forgotten("DELETE FROM hosts")]
#[tokio::test]
async fn a_breaker_that_closes_wakes_its_tasks_one_after_the_other(#[case] sql: &str) {
    let queue = Queue::new().await;
    let ids = queue.waiting_for_host(5).await;
    match sql {
        "" => drop(hosts::exchange(&queue.database.db, HOST, |state, now| state.close_by_hand(now)).await.unwrap()),
        sql => queue.sql(sql).await,
    }
    for (nth, id) in ids.iter().enumerate() {
        let late = queue.due_after(ids[0], *id).await - 0.5 * nth as f64;
        assert!((-0.1..=0.1).contains(&late), "task {nth} is due {late} s late");
    }
    // by now it has been due for a while
    let first = queue.due_in(ids[0]).await;
    assert!((-60.0..=0.1).contains(&first), "the first task is due in {first} s");
    queue.sweep_due().await;
    assert!(queue.claim_all().await.contains(&ids[0]));
}

#[tokio::test]
async fn a_host_that_goes_on_refusing_wakes_nothing() {
    let queue = Queue::new().await;
    let ids = queue.waiting_for_host(1).await;
    queue.sql("UPDATE hosts SET breaker = 'half_open'; UPDATE hosts SET breaker = 'open'").await;
    queue.sql("INSERT INTO hosts (host, breaker) VALUES ('other.test', 'open')").await;
    queue.sql("UPDATE hosts SET breaker = 'closed' WHERE host = 'other.test'").await;
    assert!(queue.due_in(ids[0]).await > 3500.0);
}

#[tokio::test]
async fn a_task_that_is_put_off_while_the_breaker_closes_is_due_at_once() {
    let queue = Queue::new().await;
    let id = queue.add(fetch(1)).await;
    let task = queue.claim_one().await;
    queue.settle(&task, &waits(HOST)).await.unwrap();
    assert!(queue.due_in(id).await < 1.1, "no breaker is open");
}
