//! Groups of stores, and the schedules that are for one of them.

use chrono::{DateTime, TimeDelta, Utc};
use contract::schedules::{NewSchedule, RecurrenceChange, Schedule, ScheduleChange, Scope};
use db::schedules::{self, ScheduleError};
use db::stores;
use db::stores::groups::GroupError;
use domain::schedule::{CronLine, Recurrence};
use rstest::rstest;

use super::*;

const GENERAL: &str = "payload_fetch_all";

fn hourly(name: &str) -> NewSchedule {
    NewSchedule {
        name: name.to_owned(),
        scope: Scope {
            role: Role::PayloadFetch,
            platform: None,
            group_name: Some(name.to_owned()),
            args: serde_json::json!({}),
        },
        state_code: None,
        priority: 0,
        enabled: true,
        recurrence: Recurrence::EveryHours(1.0),
    }
}

impl Queue {
    /// The default schedules, and these.
    async fn with_own_schedules(new: &[NewSchedule]) -> Queue {
        let queue = Queue::new().await;
        schedules::ensure_defaults(&queue.client().await, &drover::platforms::default_schedules()).await.unwrap();
        for schedule in new {
            queue.add_schedule(schedule).await.unwrap();
        }
        queue
    }

    async fn add_schedule(&self, schedule: &NewSchedule) -> Result<Schedule, ScheduleError> {
        let tx = self.database.db.begin().await.unwrap();
        let added = schedules::add(&tx, schedule).await?;
        tx.commit().await.unwrap();
        Ok(added)
    }

    async fn change_schedule(&self, name: &str, change: &ScheduleChange) {
        let id = self.number(&format!("SELECT id FROM task_schedules WHERE name = '{name}'")).await;
        let tx = self.database.db.begin().await.unwrap();
        schedules::change(&tx, id, change, None).await.unwrap();
        tx.commit().await.unwrap();
    }

    /// The stores for which the schedule makes tasks, which end at once.
    async fn generation(&self, schedule: &str) -> Vec<StoreId> {
        let before: DateTime<Utc> = self.database.raw.query_one("SELECT clock_timestamp()", &[]).await.unwrap().get(0);
        schedules::run_for(&self.database.db, schedule, before + TimeDelta::days(1)).await.unwrap();
        let made = "SELECT dispensary_id FROM worker_tasks WHERE status = 'pending' ORDER BY dispensary_id";
        let rows = self.database.raw.query(made, &[]).await.unwrap();
        self.sql("UPDATE worker_tasks SET status = 'cancelled' WHERE status = 'pending'").await;
        rows.iter().map(|row| row.get(0)).collect()
    }
}

#[tokio::test]
async fn a_group_with_a_schedule_of_its_own_is_left_out_by_the_general_one() {
    let queue = Queue::with_own_schedules(&[hourly("rivals")]).await;
    let ids = queue.stores(4).await;
    stores::groups::put_in(&queue.client().await, "rivals", &ids[..2]).await.unwrap();
    stores::groups::put_in(&queue.client().await, "others", &ids[1..3]).await.unwrap();

    assert_eq!(queue.generation("rivals").await, ids[..2]);
    assert_eq!(queue.generation(GENERAL).await, ids[2..], "the group others has no schedule");

    let off = ScheduleChange { enabled: Some(false), ..ScheduleChange::default() };
    queue.change_schedule("rivals", &off).await;
    assert_eq!(queue.generation(GENERAL).await, ids, "nobody else crawls them now");
}

#[rstest]
#[case::of_another_role(NewSchedule { scope: Scope { role: Role::EntryPointDiscovery, ..hourly("rivals").scope }, ..hourly("rivals") })]
#[case::of_another_state(NewSchedule { state_code: "CO".parse().ok(), ..hourly("rivals") })]
#[tokio::test]
async fn a_schedule_that_is_not_for_a_store_takes_it_from_nobody(#[case] of_group: NewSchedule) {
    let queue = Queue::with_own_schedules(&[of_group]).await;
    let ids = queue.stores(2).await;
    queue.sql("UPDATE dispensaries SET state = 'AZ'").await;
    stores::groups::put_in(&queue.client().await, "rivals", &ids[..1]).await.unwrap();
    assert_eq!(queue.generation(GENERAL).await, ids);
}

#[tokio::test]
async fn a_store_that_leaves_its_group_comes_back_to_the_general_schedule() {
    let queue = Queue::with_own_schedules(&[hourly("rivals")]).await;
    let ids = queue.stores(2).await;
    assert_eq!(stores::groups::put_in(&queue.client().await, "rivals", &ids).await.unwrap(), 2);
    assert_eq!(stores::groups::put_in(&queue.client().await, "rivals", &ids).await.unwrap(), 0, "each is in it once");
    assert_eq!(stores::groups::take_out(&queue.client().await, "rivals", &ids[..1]).await.unwrap(), 1);
    assert_eq!(queue.generation(GENERAL).await, ids[..1]);
    let missing = stores::groups::put_in(&queue.client().await, "rivals", &[ids[0], 77_777]).await;
    assert!(
        matches!(missing, Err(GroupError::MissingStore(77_777))) && queue.generation(GENERAL).await == ids[..1],
        "none is changed"
    );
}

#[tokio::test]
async fn another_recurrence_changes_the_next_run() {
    let queue = Queue::with_own_schedules(&[hourly("rivals")]).await;
    let daily = ScheduleChange { recurrence: Some(RecurrenceChange::EveryHours(24.0)), ..ScheduleChange::default() };
    queue.change_schedule("rivals", &daily).await;
    let listed = schedules::list(&queue.client().await).await.unwrap();
    let edited = listed.iter().find(|schedule| schedule.name == "rivals").unwrap();
    assert_eq!(edited.interval_hours, Some(24.0));
    let hours =
        "SELECT (extract(epoch FROM next_run_at - now()) / 3600)::bigint FROM task_schedules WHERE name = 'rivals'";
    assert_eq!(queue.number(hours).await, 24);
    let never = NewSchedule { recurrence: Recurrence::Cron(CronLine::in_utc("0 0 0 31 2 *")), ..hourly("never") };
    let refused = queue.add_schedule(&never).await.unwrap_err();
    assert!(matches!(&refused, ScheduleError::Bad(bad) if bad.field == "cron"), "{refused}");
}
