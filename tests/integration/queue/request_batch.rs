//! Requests that meet an open task which does the same, and many requests in one transaction: each has its
//! own answer.

use contract::task_requests::TaskRequest;
use db::tasks;
use db::tasks::requests::RequestError;
use rstest::rstest;
use serde_json::{Value, json};

use super::*;

type Answers = Vec<Result<QueuedTask, RequestError>>;

impl Queue {
    async fn enqueue_batch(&self, requests: Vec<TaskRequest>) -> Answers {
        let tx = self.database.db.begin().await.unwrap();
        let answers = tasks::requests::enqueue_batch(&tx, requests).await.unwrap();
        tx.commit().await.unwrap();
        answers
    }
}

fn request(body: Value) -> TaskRequest {
    serde_json::from_value(body).unwrap()
}

fn fetch_of(store: StoreId) -> TaskRequest {
    request(json!({"role": "payload_fetch", "dispensary_id": store}))
}

/// The task that does the same already.
fn existing(answer: &Result<QueuedTask, RequestError>) -> TaskId {
    match answer {
        Err(RequestError::Duplicate { existing, .. }) => *existing,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn each_request_of_a_batch_has_its_own_answer() {
    let queue = Queue::new().await;
    let stores = queue.stores(3).await;
    let answers = queue
        .enqueue_batch(vec![
            fetch_of(stores[0]),
            request(json!({"role": "payload_fetsch"})),
            fetch_of(4711),
            fetch_of(stores[1]),
            request(json!({"role": "analytics_refresh", "depends_on": [4711]})),
            request(json!({"role": "payload_fetch", "dispensary_id": stores[2], "platform": "dutchie_plus"})),
        ])
        .await;
    assert!(matches!(&answers[1], Err(RequestError::Bad(bad)) if bad.field == "role"));
    assert!(matches!(&answers[2], Err(RequestError::Missing { field: "dispensary_id", .. })));
    assert!(matches!(&answers[4], Err(RequestError::Missing { field: "depends_on", .. })));
    assert!(matches!(&answers[5], Err(RequestError::Bad(bad)) if bad.field == "platform"));
    let made = [answers[0].as_ref().unwrap().id, answers[3].as_ref().unwrap().id];
    assert_eq!(queue.claim_all().await, made);
    assert_eq!(queue.number("SELECT count(*) FROM worker_tasks").await, 2);
}

#[tokio::test]
async fn what_is_open_already_is_named_whoever_made_it() {
    let queue = Queue::new().await;
    let stores = queue.stores(4).await;
    let (generated, requested) =
        (queue.add(fetch(stores[0])).await, queue.enqueue_batch(vec![fetch_of(stores[1])]).await);
    queue.sql(&format!("INSERT INTO worker_tasks (role, dispensary_id) VALUES ('payload_fetch', {})", stores[2])).await;
    let by_hand = queue.number("SELECT max(id) FROM worker_tasks").await;
    let answers = queue.enqueue_batch(stores.iter().map(|store| fetch_of(*store)).collect()).await;
    assert_eq!(existing(&answers[0]), generated);
    assert_eq!(existing(&answers[1]), requested[0].as_ref().unwrap().id);
    assert_eq!(existing(&answers[2]), by_hand);
    answers[3].as_ref().unwrap();
}

#[tokio::test]
async fn a_request_that_repeats_an_earlier_one_of_its_batch_is_refused_with_that_ones_task() {
    let queue = Queue::new().await;
    let store = queue.stores(1).await[0];
    let own = request(json!({"role": "payload_fetch", "dispensary_id": store, "dedup_key": "once more"}));
    let answers = queue.enqueue_batch(vec![fetch_of(store), fetch_of(store), own.clone(), own]).await;
    assert_eq!(existing(&answers[1]), answers[0].as_ref().unwrap().id);
    assert_eq!(existing(&answers[3]), answers[2].as_ref().unwrap().id, "its own key alone decides");
    let again = queue.enqueue_batch(vec![fetch_of(store), fetch_of(store)]).await;
    assert_eq!(existing(&again[1]), existing(&again[0]));
}

#[tokio::test]
async fn a_batch_of_ten_thousand_is_queued() {
    let queue = Queue::new().await;
    let stores = queue.stores(2000).await;
    let roles = ["payload_fetch", "product_discovery", "product_refresh", "entry_point_discovery"];
    let mut requests: Vec<TaskRequest> = roles
        .iter()
        .flat_map(|role| stores.iter().map(move |store| request(json!({"role": role, "dispensary_id": store}))))
        .collect();
    let payloads = stores
        .iter()
        .map(|store| request(json!({"role": "product_refresh", "dispensary_id": store, "payload": {"payload_id": 9}})));
    requests.extend(payloads);
    assert_eq!(requests.len(), tasks::requests::MAX_BATCH_ITEMS);
    let answers = queue.enqueue_batch(requests).await;
    assert!(answers.iter().all(Result::is_ok));
    assert_eq!(queue.claim_all().await.len(), 1000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_batches_at_once_each_request_is_queued_once() {
    let queue = Queue::new().await;
    let stores = queue.stores(200).await;
    let batch = || queue.enqueue_batch(stores.iter().map(|store| fetch_of(*store)).collect());
    let answers: Vec<Answers> = futures_util::future::join_all((0..6).map(|_| batch())).await;
    assert_eq!(answers.iter().flatten().filter(|answer| answer.is_ok()).count(), 200);
    assert_eq!(queue.number("SELECT count(*) FROM worker_tasks").await, 200);
}

#[rstest]
#[case::a_schedule("generated")]
#[case::a_finished_task("chained")]
#[case::a_person("by hand")]
#[case::a_person_for_later("blocked")]
#[case::a_request_that_runs("running")]
#[tokio::test]
async fn a_single_request_for_what_is_open_already_names_the_task_whoever_made_it(#[case] origin: &str) {
    let queue = Queue::new().await;
    let store = queue.stores(1).await[0];
    let parent = queue.add(analytics()).await;
    match origin {
        "generated" => queue.sql("SELECT generate_resync_tasks(6, current_date + 2)").await,
        "chained" => drop(queue.add(NewTask { parent_task_id: Some(parent), ..fetch(store) }).await),
        "blocked" => drop(queue.add(NewTask { depends_on: vec![parent], ..fetch(store) }).await),
        "running" => {
            queue.add(fetch(store)).await;
            queue.claim(&[Role::PayloadFetch], 1).await;
        }
        _ => {
            let insert = format!("INSERT INTO worker_tasks (role, dispensary_id) VALUES ('payload_fetch', {store})");
            queue.sql(&insert).await;
        }
    }
    let open = queue.number("SELECT max(id) FROM worker_tasks").await;
    assert_ne!(open, parent);
    let refused = queue.request(fetch_of(store)).await;
    assert_eq!(existing(&refused), open);
    assert_eq!(existing(&queue.enqueue_batch(vec![fetch_of(store)]).await[0]), open);
}
