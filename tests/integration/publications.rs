//! The feed of changes under writers that hold their transactions open, publishers that are killed, and readers that
//! follow by cursor.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use db::changes::feed::{self, FeedRead};
use db::changes::{self, ChangeLine, publisher};
use db::{Db, DbError};
use domain::menu::changes::{Presence, of_product};
use domain::payload::Payload;
use rand::Rng;
use rand::SeedableRng;
use rand::rngs::StdRng;

use crate::handlers::test_store::TestStore;
use contract::changes::{ChangeLimit, ChangePlace, ChangeQuestion, ChangeView};

const STORES: i64 = 4;
const BATCHES: i64 = 25;
const MAX_CHANGES: i64 = 6;

/// The crawls of one store, each in a transaction that may stay open while other stores commit. Ids and times of crawls
/// are given before the commits.
async fn write(db: Db, payload: Payload, next_id: Arc<AtomicI64>) -> i64 {
    let mut rng = StdRng::seed_from_u64(payload.dispensary_id.unsigned_abs());
    let mut written = 0;
    for _ in 0..BATCHES {
        let id = next_id.fetch_add(1, Ordering::Relaxed);
        let payload = Payload { id, ..payload.clone() };
        let count = rng.random_range(1..=MAX_CHANGES);
        let change = of_product(Presence::Unknown, Presence::Listed).unwrap();
        let line = |n| ChangeLine { product_id: id * MAX_CHANGES + n, option: None, change: change.clone() };
        let tx = db.begin().await.unwrap();
        changes::add(&tx, &payload, (0..count).map(line).collect()).await.unwrap();
        for _ in 0..rng.random_range(0..200) {
            tokio::task::yield_now().await;
        }
        if rng.random_bool(0.1) {
            tx.rollback().await.unwrap();
            continue;
        }
        tx.commit().await.unwrap();
        written += count;
    }
    written
}

/// Reads until everything is published and read; returns the changes in the order in which they came.
async fn follow(db: Db, begin: ChangePlace, limit: i64, is_published: Arc<AtomicBool>) -> Vec<ChangeView> {
    let question = ChangeQuestion { limit: ChangeLimit(limit), ..ChangeQuestion::default() };
    let (mut place, mut read) = (begin, Vec::new());
    loop {
        let was_published = is_published.load(Ordering::Acquire);
        let client = db.client().await.unwrap();
        let FeedRead::Part(part) = feed::read_on(&client, &place, &question).await.unwrap() else { panic!("expired") };
        drop(client);
        read.extend(part.changes);
        place = part.next;
        if part.is_end && was_published {
            return read;
        }
        tokio::task::yield_now().await;
    }
}

/// Publishes, and is dropped again and again in the middle of it. Each life may be longer than the last one, so that a
/// machine of any speed gets on.
async fn publish(db: Db, seed: u64, is_over: Arc<AtomicBool>) {
    let mut rng = StdRng::seed_from_u64(seed);
    for longest in (1_000..).step_by(200) {
        if is_over.load(Ordering::Acquire) {
            return;
        }
        let life = Duration::from_micros(rng.random_range(0..longest));
        let published: Result<Result<u64, DbError>, _> = tokio::time::timeout(life, publisher::publish(&db)).await;
        if let Ok(published) = published {
            published.unwrap();
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_reader_gets_each_committed_change_once_and_all_in_one_order() {
    let first = TestStore::new().await;
    let db = first.database.db.clone();
    let mut payloads = vec![first.payload(0, 1, 1.0).await];
    for n in 1..STORES {
        payloads.push(first.beside(&format!("Store {n}")).await.payload(0, 1, 1.0).await);
    }
    let begin = feed::newest(&db.client().await.unwrap()).await.unwrap();
    let (next_id, is_over) = (Arc::new(AtomicI64::new(1000)), Arc::new(AtomicBool::new(false)));
    let readers: Vec<_> = [1, 7, 1000]
        .map(|limit| tokio::spawn(follow(db.clone(), begin.clone(), limit, is_over.clone())))
        .into_iter()
        .collect();
    let publishers: Vec<_> = (0..2).map(|seed| tokio::spawn(publish(db.clone(), seed, is_over.clone()))).collect();
    let writers: Vec<_> =
        payloads.into_iter().map(|payload| tokio::spawn(write(db.clone(), payload, next_id.clone()))).collect();
    let mut written = 0;
    for writer in writers {
        written += writer.await.unwrap();
    }
    testkit::until("all is published", testkit::PATIENCE, async || {
        first.count("SELECT count(*) FROM change_batches WHERE seq IS NULL").await == 0
    })
    .await;
    is_over.store(true, Ordering::Release);
    for publisher in publishers {
        publisher.await.unwrap();
    }
    let mut read = Vec::new();
    for reader in readers {
        read.push(reader.await.unwrap());
    }

    assert_eq!(first.count("SELECT count(*) FROM product_changes").await, written);
    assert_eq!(read[0].len() as i64, written);
    let distinct: HashSet<i64> = read[0].iter().map(|change| change.product_id).collect();
    assert_eq!(distinct.len() as i64, written, "none came twice");
    assert!(read.iter().all(|other| *other == read[0]), "all came in one order");
    for store in read[0].iter().map(|change| change.store_id).collect::<HashSet<_>>() {
        let of_store: Vec<i64> =
            read[0].iter().filter(|change| change.store_id == store).map(|change| change.product_id).collect();
        assert!(of_store.is_sorted(), "the changes of a store follow its crawls");
    }
}

#[tokio::test]
async fn a_publisher_leaves_the_work_to_another_one_and_finds_nothing_afterwards() {
    let store = TestStore::new().await;
    let payload = store.payload(0, 1, 1.0).await;
    let tx = store.database.db.begin().await.unwrap();
    changes::add_baseline(&tx, &payload).await.unwrap();
    tx.commit().await.unwrap();
    store.database.raw.batch_execute("BEGIN; SELECT FROM change_feed FOR UPDATE").await.unwrap();
    assert_eq!(publisher::publish(&store.database.db).await.unwrap(), 0);
    store.database.raw.batch_execute("ROLLBACK").await.unwrap();
    assert_eq!(publisher::publish(&store.database.db).await.unwrap(), 1);
    assert_eq!(publisher::publish(&store.database.db).await.unwrap(), 0);
}

#[tokio::test]
async fn batches_that_are_older_than_the_retention_go_and_readers_of_them_expire() {
    let store = TestStore::new().await;
    let db = &store.database.db;
    let client = db.client().await.unwrap();
    let begin = feed::newest(&client).await.unwrap();
    for second in 0..3 {
        let tx = db.begin().await.unwrap();
        changes::add_baseline(&tx, &store.payload(second, 1, 1.0).await).await.unwrap();
        tx.commit().await.unwrap();
        publisher::publish(db).await.unwrap();
    }
    let aged = "UPDATE change_batches SET created_at = now() - interval '91 days' WHERE seq <= 2";
    store.database.raw.batch_execute(aged).await.unwrap();
    assert_eq!(changes::prune(&client, Duration::from_secs(90 * 86_400), 100).await.unwrap(), 2);
    let read = async |seq| {
        let place = ChangePlace { seq, ..begin.clone() };
        feed::read_on(&client, &place, &ChangeQuestion::default()).await.unwrap()
    };
    assert_eq!(read(1).await, FeedRead::Expired { removed: 2 });
    assert!(matches!(read(2).await, FeedRead::Part(part) if part.is_end));
}
