//! One action on many stores by HTTP: the stores of a filter or of a list are counted, and then changed at once.

use serde_json::{Value, json};

use super::server::Server;

/// Four stores: two of Arizona, of which one has no menu id; one of Michigan that is disabled; one without a state.
const STORES: &str = "
    INSERT INTO dispensaries (id, name, slug, state, city, platform, platform_dispensary_id, crawl_enabled, disabled_reason, groups) VALUES
      (901, 'Agave', 'agave', 'AZ', 'Tempe', 'dutchie', 'agave', true, NULL, '{}'),
      (902, 'Basalt', 'basalt', 'AZ', NULL, 'dutchie', NULL, true, NULL, '{rivals}'),
      (903, 'Cedar', 'cedar', 'MI', 'Lansing', 'dutchie', 'cedar', false, NULL, '{}'),
      (904, 'Dune', 'dune', NULL, NULL, 'dutchie_plus', 'dune', true, NULL, '{rivals}')";

async fn with_stores() -> Server {
    let server = Server::start().await;
    server.database.raw.batch_execute(STORES).await.unwrap();
    server
}

impl Server {
    async fn ids(&self, condition: &str) -> Vec<i64> {
        let sql = format!("SELECT id FROM dispensaries WHERE {condition} ORDER BY id");
        self.database.raw.query(&sql, &[]).await.unwrap().iter().map(|row| row.get(0)).collect()
    }

    /// Stores and priorities of the waiting tasks of a role.
    async fn waiting(&self, role: &str) -> Vec<(i64, i32)> {
        let sql = "SELECT dispensary_id, priority FROM worker_tasks WHERE role = $1 AND status = 'pending' ORDER BY 1";
        self.database.raw.query(sql, &[&role]).await.unwrap().iter().map(|row| (row.get(0), row.get(1))).collect()
    }
}

#[tokio::test]
async fn a_filter_counts_the_stores_that_the_list_has() {
    let server = with_stores().await;
    let cases: [(&str, Value); 6] = [
        ("state", json!("az")),
        ("platform", json!("dutchie_plus")),
        ("group", json!("rivals")),
        ("crawl_enabled", json!(false)),
        ("crawl_status", json!("needs_menu_id")),
        ("q", json!("LANS")),
    ];
    for (name, value) in cases {
        let text = value.as_str().map_or(value.to_string(), str::to_owned);
        let listed = server.get(&format!("/api/stores?{name}={text}")).await.expect(200)["total"].clone();
        assert!(listed.as_i64().is_some_and(|total| (1..4).contains(&total)), "{name} leaves some stores: {listed}");
        let body = json!({"action": "disable", "filter": {name: value}, "dry_run": true});
        assert_eq!(server.post("/api/stores/bulk", body).await.expect(200)["matched"], listed);
        assert_eq!(server.ids("NOT crawl_enabled").await, [903], "it only counted");
        assert_eq!(server.get("/api/audit").await.expect(200)["audit"], json!([]));
    }
}

#[tokio::test]
async fn all_stores_that_match_are_crawled_before_scheduled_tasks_but_none_without_a_menu_id() {
    let server = with_stores().await;
    let crawl = json!({"action": "crawl", "filter": {}});
    let first = server.post("/api/stores/bulk", crawl.clone()).await.expect(200);
    assert_eq!(first, json!({"matched": 4, "eligible": 2, "done": 2, "raised": 0}));
    assert_eq!(server.waiting("payload_fetch").await, [(901, 20), (904, 20)]);

    let lower = "UPDATE worker_tasks SET priority = 0 WHERE dispensary_id = 904";
    server.database.raw.batch_execute(lower).await.unwrap();
    let again = server.post("/api/stores/bulk", crawl).await.expect(200);
    assert_eq!((&again["done"], &again["raised"]), (&json!(0), &json!(1)));
    assert_eq!(server.waiting("payload_fetch").await, [(901, 20), (904, 20)]);
    let audit = server.get("/api/audit?action=stores.bulk").await.expect(200)["audit"].clone();
    assert_eq!(audit.as_array().map(Vec::len), Some(2));
    assert_eq!((&audit[1]["target"], &audit[1]["detail"]["done"]), (&json!("crawl"), &json!(2)));
}

#[tokio::test]
async fn stores_are_disabled_and_enabled_and_those_without_a_menu_id_are_looked_up_again() {
    let server = with_stores().await;
    let off = json!({"action": "disable", "filter": {"state": "AZ"}});
    assert_eq!(server.post("/api/stores/bulk", off).await.expect(200)["done"], 2);
    assert_eq!(server.ids("NOT crawl_enabled").await, [901, 902, 903]);
    let on = json!({"action": "enable", "ids": [901, 902, 4711]});
    let answer = server.post("/api/stores/bulk", on).await.expect(200);
    assert_eq!(answer, json!({"matched": 2, "eligible": 2, "done": 2, "raised": 0}));
    assert_eq!(server.ids("NOT crawl_enabled").await, [903]);
    assert_eq!(server.waiting("entry_point_discovery").await, [(902, 10)]);
}

#[tokio::test]
async fn stores_come_into_a_group_and_leave_it_but_full_ones_are_left_out() {
    let server = with_stores().await;
    let full =
        "UPDATE dispensaries SET groups = (SELECT array_agg('g' || n) FROM generate_series(1, 20) n) WHERE id = 903";
    server.database.raw.batch_execute(full).await.unwrap();
    let add = json!({"action": "add_to_group", "group": "Rivals", "filter": {}});
    let answer = server.post("/api/stores/bulk", add).await.expect(200);
    assert_eq!(answer, json!({"matched": 4, "eligible": 1, "done": 1, "raised": 0}));
    assert_eq!(server.ids("'rivals' = ANY (groups)").await, [901, 902, 904]);
    let remove = json!({"action": "remove_from_group", "group": "rivals", "filter": {"state": "AZ"}});
    assert_eq!(server.post("/api/stores/bulk", remove).await.expect(200)["done"], 2);
    assert_eq!(server.ids("'rivals' = ANY (groups)").await, [904]);
}

#[tokio::test]
async fn more_stores_than_one_request_may_change_are_refused_and_none_is_changed() {
    let server = Server::start().await;
    let many = "INSERT INTO dispensaries (name, slug) SELECT 'store ' || n, 's' || n FROM generate_series(1, 10001) n";
    server.database.raw.batch_execute(many).await.unwrap();
    let counted =
        server.post("/api/stores/bulk", json!({"action": "disable", "filter": {}, "dry_run": true})).await.expect(200);
    assert_eq!(counted["eligible"], 10_001);
    let refused = server.post("/api/stores/bulk", json!({"action": "disable", "filter": {}})).await.problem(400);
    assert_eq!(refused["field"], "filter");
    assert!(refused["detail"].as_str().unwrap().contains("the maximum is 10000"), "{refused}");
    assert_eq!(server.ids("NOT crawl_enabled").await, Vec::<i64>::new());
}

#[tokio::test]
async fn a_request_that_names_no_stores_or_no_group_is_refused_by_name() {
    let server = Server::start().await;
    for (body, field) in [
        (json!({"action": "enable"}), "filter"),
        (json!({"action": "enable", "ids": []}), "ids"),
        (json!({"action": "enable", "ids": [1], "filter": {}}), "ids"),
        (json!({"action": "enable", "filter": {"q": ""}}), "filter.q"),
        (json!({"action": "enable", "filter": {"sort": "name"}}), "filter.sort"),
        (json!({"action": "enable", "filter": {"state": "Ohio"}}), "filter.state"),
        (json!({"action": "enable", "ids": [1], "group": "rivals"}), "group"),
        (json!({"action": "add_to_group", "ids": [1]}), "group"),
        (json!({"action": "add_to_group", "ids": [1], "group": "a b"}), "group"),
    ] {
        assert_eq!(server.post("/api/stores/bulk", body.clone()).await.problem(400)["field"], field, "{body}");
    }
}
