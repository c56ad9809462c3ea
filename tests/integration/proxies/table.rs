//! Changes that several processes may make to the table at once, and their result.

use std::time::{Duration, Instant};

use db::{DbError, proxies};
use domain::proxy::{ConditionChange, CounterDelta, ProxyEntry, ProxyId, ProxyRow, StoredState};
use drover::cli::proxies::list;
use foundation::secrets::SecretKeys;

use super::import;
use testkit::{TestDatabase, database};

async fn load(database: &TestDatabase) -> Vec<ProxyRow> {
    proxies::load(&database.db.client().await.unwrap(), &SecretKeys::default()).await.unwrap().rows
}

async fn flush(database: &TestDatabase, deltas: &[CounterDelta]) {
    let client = database.db.client().await.unwrap();
    proxies::flush(&client, deltas, Instant::now()).await.unwrap();
}

fn benched(proxy: ProxyId, cooldown: u64) -> CounterDelta {
    let change = Some(ConditionChange::Benched { until: Instant::now() + Duration::from_secs(cooldown) });
    CounterDelta { change, ..CounterDelta::of(proxy) }
}

fn revived(proxy: ProxyId) -> CounterDelta {
    CounterDelta { change: Some(ConditionChange::Revived), ..CounterDelta::of(proxy) }
}

fn cooldown_left(row: &ProxyRow) -> u64 {
    match row.stored {
        StoredState::Benched { left, .. } => left.as_secs_f64().round() as u64,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_import_says_what_it_added_changed_and_left_alone() {
    let database = database().await;
    let first = import(&database, "a:1:u:x\nb:1\nsocks5://b:1").await;
    assert_eq!((first.created, first.updated, first.unchanged), (3, 0, 0));

    let second = import(&database, "a:1:u:new\nb:1\nc:1").await;
    assert_eq!((second.created, second.updated, second.unchanged), (1, 1, 1));
    let rows = load(&database).await;
    assert_eq!(rows.len(), 4);
    assert_eq!(rows[0].proxy.password.as_deref(), Some("new"));
}

#[tokio::test]
async fn an_import_that_the_table_refuses_leaves_nothing_behind() {
    let database = database().await;
    let mut entries: Vec<ProxyEntry> = list::parse("test", "a:1\nb:1:u:x").unwrap().entries;
    entries[1].password = Some("secret\r\nheader: of somebody else".to_owned());
    let refused = proxies::import(&database.db, &entries, &SecretKeys::default()).await.unwrap_err().to_string();
    assert!(!refused.contains("secret"), "{refused}");
    assert!(load(&database).await.is_empty());
}

#[tokio::test]
async fn a_new_password_lifts_a_bench_but_never_an_off() {
    let database = database().await;
    import(&database, "a:1:u:x\nb:1:u:x\nc:1:u:x").await;
    flush(&database, &[benched(1, 600), benched(2, 600)]).await;
    super::switch(&database.db, 3, false).await.unwrap();

    import(&database, "host,port,username,password,state_code\na,1,u,new,\nb,1,u,x,AZ\nc,1,u,new,").await;
    let rows = load(&database).await;
    assert_eq!(rows[0].stored, StoredState::Active);
    assert!(matches!(rows[1].stored, StoredState::Benched { .. }), "its password is the same");
    assert_eq!(rows[2].stored, StoredState::Off);
}

#[tokio::test]
async fn processes_that_flush_at_once_add_up_and_do_not_block_each_other() {
    let database = database().await;
    import(&database, "a:1\nb:1\nc:1\nd:1").await;
    let flushes = (0..8).map(|process| {
        let db = database.db.clone();
        tokio::spawn(async move {
            for _ in 0..20 {
                let mut ids = [1, 2, 3, 4];
                ids.rotate_left(process % 4);
                let deltas = ids.map(|id| {
                    let mut delta = CounterDelta::of(id);
                    delta.succeeded(Duration::from_millis(300), true);
                    delta.failed("reset");
                    delta
                });
                let client = db.client().await.unwrap();
                proxies::flush(&client, &deltas, Instant::now()).await.unwrap();
            }
        })
    });
    for flush in flushes.collect::<Vec<_>>() {
        flush.await.unwrap();
    }
    for row in load(&database).await {
        assert_eq!((row.counters.success_count, row.counters.failure_count), (160, 160));
        assert!((row.counters.avg_response_time_ms.unwrap() - 300.0).abs() < 1e-6);
    }
}

#[tokio::test]
async fn the_table_reckons_as_the_pool_does() {
    let database = database().await;
    import(&database, "a:1").await;
    let mut expected = load(&database).await.remove(0).counters;
    for round in 0..3u64 {
        let mut delta = CounterDelta::of(1);
        delta.blocked("menu.test");
        if round == 1 {
            delta.succeeded(Duration::from_millis(100 * (round + 1)), true);
            delta.blocked("menu.test");
            delta.succeeded(Duration::from_millis(900), true);
            delta.blocked("menu.test");
        }
        flush(&database, std::slice::from_ref(&delta)).await;
        expected = delta.on_top_of(&expected);
    }
    let found = load(&database).await.remove(0).counters;
    assert_eq!(found.consecutive_403_count, 2);
    let close = |a: Option<f64>, b: Option<f64>| (a.unwrap() - b.unwrap()).abs() < 1e-6;
    assert!(close(found.avg_response_time_ms, expected.avg_response_time_ms));
    expected.avg_response_time_ms = found.avg_response_time_ms;
    assert_eq!(found, expected);
}

#[tokio::test]
async fn a_cooldown_is_reckoned_by_the_database_and_a_shorter_one_does_not_cut_it() {
    let database = database().await;
    import(&database, "a:1").await;
    flush(&database, &[benched(1, 600)]).await;
    flush(&database, &[benched(1, 30)]).await;
    let row = load(&database).await.remove(0);
    assert!((598..=600).contains(&cooldown_left(&row)), "{row:?}");

    database.raw.execute("UPDATE proxies SET cooldown_until = now() - interval '1 minute'", &[]).await.unwrap();
    assert_eq!(cooldown_left(&load(&database).await[0]), 0, "over, and still benched until it has proved itself");

    flush(&database, &[revived(1)]).await;
    assert_eq!(load(&database).await[0].stored, StoredState::Active);
}

#[tokio::test]
async fn what_is_switched_off_by_hand_stays_off_whatever_processes_learn() {
    let database = database().await;
    import(&database, "a:1\nb:1").await;
    database.raw.execute("UPDATE proxies SET is_active = false", &[]).await.unwrap();
    flush(&database, &[benched(1, 1), revived(2)]).await;
    assert!(load(&database).await.iter().all(|row| row.stored == StoredState::Off));
    let counts = proxies::count(&database.db.client().await.unwrap()).await.unwrap();
    assert_eq!((counts.switched_on(), counts.off), (0, 2));
}

#[tokio::test]
async fn a_flush_passes_over_rows_that_are_gone() {
    let database = database().await;
    import(&database, "a:1").await;
    let mut delta = CounterDelta::of(1);
    delta.failed("reset\0by\npeer");
    flush(&database, &[benched(99, 30), delta]).await;
    assert_eq!(load(&database).await[0].counters.last_error.as_deref(), Some("reset by peer"));
}

#[tokio::test]
async fn the_list_for_people_has_no_password() {
    let database = database().await;
    import(&database, "a:1:u:s3cret").await;
    let json = serde_json::to_string(&super::listed(&database.db).await).unwrap();
    assert!(json.contains("\"username\":\"u\"") && !json.contains("s3cret"), "{json}");
    assert!(matches!(super::switch(&database.db, 7, true).await, Err(DbError::Missing(_))));
}
