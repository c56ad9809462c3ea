//! When a menu that lost more than half of its products is believed: by the time and the proxy of each look
//! at it.

use chrono::TimeDelta;
use domain::payload::FetchStart;
use rstest::rstest;

use super::test_store::{TestStore, at};

const HOURS: [i64; 3] = [0, 2, 4];

#[rstest]
#[case::by_way_of_two(2, 0, HOURS, [1, 1, 2], true)]
#[case::all_by_way_of_one(2, 0, HOURS, [1, 1, 1], false)]
#[case::by_the_only_one(1, 0, HOURS, [1, 1, 1], true)]
#[case::by_the_only_one_that_is_not_off(1, 3, HOURS, [1, 1, 1], true)]
#[case::within_an_hour(2, 0, [0, 2, 3], [1, 1, 2], false)]
#[tokio::test]
async fn the_third_look_is_believed_hours_apart_and_by_way_of_several_proxies_where_there_are(
    #[case] active: i32,
    #[case] off: i32,
    #[case] hours: [i64; 3],
    #[case] proxies: [i64; 3],
    #[case] believed: bool,
) {
    let store = TestStore::new().await;
    let rows = "INSERT INTO proxies (host, port, is_active) SELECT 'p' || n, 80, n <= $1 FROM generate_series(1, $1::int + $2::int) n";
    store.database.raw.execute(rows, &[&active, &off]).await.unwrap();
    let client = store.database.db.client().await.unwrap();
    let mut looks = Vec::new();
    for (hour, proxy) in hours.into_iter().zip(proxies) {
        let start = FetchStart {
            at: at(0) + TimeDelta::hours(hour),
            products: 30,
            expects_empty: false,
            small_menu_proxies: Vec::new(),
        };
        looks.push(db::payloads::believe_small_menu(&client, store.id, &start, 3, Some(proxy)).await.unwrap());
    }
    assert_eq!(looks, [false, false, believed]);
}

#[tokio::test]
async fn the_sixth_look_is_believed_by_whatever_proxies_and_so_few_are_noted() {
    let store = TestStore::new().await;
    store.database.raw.batch_execute("INSERT INTO proxies (host, port) VALUES ('p1', 80), ('p2', 80)").await.unwrap();
    let client = store.database.db.client().await.unwrap();
    let mut looks = Vec::new();
    for look in 0..7 {
        let start = FetchStart {
            at: at(0) + TimeDelta::hours(3 * look),
            products: 30,
            expects_empty: false,
            small_menu_proxies: Vec::new(),
        };
        looks.push(db::payloads::believe_small_menu(&client, store.id, &start, 3, Some(1)).await.unwrap());
    }
    assert_eq!(looks, [false, false, false, false, false, true, true]);
    assert_eq!(store.count("SELECT count(*) FROM suspicious_menus").await, 5);
}
