//! `PUT` and `DELETE /api/stores/{id}` and the commands that ask them: a store is corrected or deleted, and its
//! tasks follow.

use http::Method;
use rstest::rstest;
use serde_json::{Value, json};

use super::reads::selling;
use super::server::{Answer, Server};
use testkit::drover;

async fn put(server: &Server, id: i64, change: Value) -> Answer {
    let request = server.request(Method::PUT, &format!("/api/stores/{id}")).header("content-type", "application/json");
    server.send(request.body(change.to_string().into()).unwrap()).await
}

/// A store whose look-up has failed for good; returns its id.
async fn not_found(server: &Server) -> i64 {
    let made =
        server.post("/api/stores/import", json!({"stores": [{"name": "Leaf", "slug": "wrong"}]})).await.expect(200);
    let failed = "UPDATE worker_tasks SET status = 'failed', ready = false, completed_at = now(), error_message = 'no store at wrong'";
    server.database.raw.batch_execute(failed).await.unwrap();
    made["imported"][0]["id"].as_i64().unwrap()
}

/// Open tasks of the store, by role.
async fn open_tasks(server: &Server, store: i64) -> Vec<String> {
    let page = server.get(&format!("/api/tasks?status=pending&dispensary_id={store}")).await.expect(200);
    let mut roles: Vec<String> =
        page["tasks"].as_array().unwrap().iter().map(|task| task["role"].as_str().unwrap().to_owned()).collect();
    roles.sort();
    roles
}

#[tokio::test]
async fn a_store_without_a_platform_id_says_why_its_look_up_failed() {
    let server = Server::start().await;
    let id = not_found(&server).await;
    let shown = server.get(&format!("/api/stores/{id}")).await.expect(200);
    assert_eq!((&shown["lookup_error"], &shown["lookup_next_at"]), (&json!("no store at wrong"), &Value::Null));

    let again =
        "UPDATE worker_tasks SET status = 'pending', completed_at = NULL, scheduled_for = '2100-01-10T08:00:00Z'";
    server.database.raw.batch_execute(again).await.unwrap();
    let shown = server.get("/api/stores").await.expect(200)["stores"][0].clone();
    assert_eq!(
        (&shown["lookup_error"], &shown["lookup_next_at"]),
        (&json!("no store at wrong"), &json!("2100-01-10T08:00:00Z"))
    );

    let known = server.add_store("known").await;
    let shown = server.get(&format!("/api/stores/{known}")).await.expect(200);
    assert_eq!((&shown["lookup_error"], &shown["lookup_task_id"]), (&Value::Null, &Value::Null));
}

#[rstest]
#[case::slug(json!({"slug": " right "}), "slug", json!("right"))]
#[case::menu_url(json!({"menu_url": "https://dutchie.com/stores/right"}), "menu_url", json!("https://dutchie.com/stores/right"))]
#[tokio::test]
async fn a_corrected_address_is_looked_up_at_once(#[case] change: Value, #[case] field: &str, #[case] value: Value) {
    let server = Server::start().await;
    let id = not_found(&server).await;
    let shown = put(&server, id, change.clone()).await.expect(200);
    assert_eq!((&shown[field], &shown["lookup_error"]), (&value, &Value::Null));
    assert!(shown["lookup_next_at"].is_string(), "{shown}");
    assert_eq!(open_tasks(&server, id).await, ["entry_point_discovery"]);
    let audit = server.get("/api/audit?action=stores.set").await.expect(200);
    assert_eq!(audit["audit"][0]["detail"]["change"][field], value);

    put(&server, id, change).await.expect(200);
    assert_eq!(server.get("/api/tasks").await.expect(200)["tasks"].as_array().unwrap().len(), 2, "nothing changed");
}

#[tokio::test]
async fn a_look_up_that_runs_for_the_old_address_writes_nothing() {
    let server = Server::start().await;
    let id = not_found(&server).await;
    let run = "UPDATE worker_tasks SET status = 'running', completed_at = NULL, worker_id = 'w', fence = 1, lease_expires_at = now() + interval '1 hour'";
    server.database.raw.batch_execute(run).await.unwrap();
    put(&server, id, json!({"slug": "right"})).await.expect(200);
    let tasks = server.get("/api/tasks").await.expect(200)["tasks"].clone();
    assert_eq!((&tasks[1]["status"], &tasks[0]["status"]), (&json!("cancelled"), &json!("pending")));
    assert_eq!(tasks[0]["ready"], false, "it waits until the body of the cancelled one has stopped");
}

#[tokio::test]
async fn a_store_with_another_platform_id_is_crawled_at_once_and_forgets_what_was_of_the_old_one() {
    let server = Server::start().await;
    let id = server.add_store("old").await;
    let crawl = server.post("/api/tasks", json!({"role": "payload_fetch", "dispensary_id": id})).await.expect(201);
    let old = format!(
        "INSERT INTO suspicious_menus (dispensary_id, fetched_at, product_count) SELECT {id}, now() - n * interval '1 day', 0 FROM generate_series(1, 3) n;
         UPDATE dispensaries SET empty_accepted_at = now();
         INSERT INTO found_stores (platform_dispensary_id, name, found_in, dispensary_id) VALUES ('old', 'Old', 'AZ', {id})"
    );
    server.database.raw.batch_execute(&old).await.unwrap();
    let shown = put(&server, id, json!({"platform_dispensary_id": "new"})).await.expect(200);
    assert_eq!((&shown["platform_dispensary_id"], &shown["crawl_status"]), (&json!("new"), &json!("never_crawled")));
    let left = "SELECT count(*) FROM suspicious_menus UNION ALL
                SELECT count(*) FROM dispensaries WHERE empty_accepted_at IS NOT NULL UNION ALL
                SELECT count(*) FROM found_stores WHERE dispensary_id IS NOT NULL";
    for row in server.database.raw.query(left, &[]).await.unwrap() {
        assert_eq!(row.get::<_, i64>(0), 0);
    }
    assert_eq!(server.get(&format!("/api/tasks/{}", crawl["id"])).await.expect(200)["status"], "cancelled");
    assert_eq!(open_tasks(&server, id).await, ["product_discovery"]);
}

#[tokio::test]
async fn a_platform_id_that_is_removed_is_looked_up_again() {
    let server = Server::start().await;
    let id = server.add_store("leaf").await;
    let shown = put(&server, id, json!({"platform_dispensary_id": null})).await.expect(200);
    assert_eq!((&shown["platform_dispensary_id"], &shown["crawl_status"]), (&Value::Null, &json!("needs_menu_id")));
    assert_eq!(open_tasks(&server, id).await, ["entry_point_discovery"]);
}

#[tokio::test]
async fn a_disabled_store_is_looked_up_once_it_is_enabled() {
    let server = Server::start().await;
    let id = not_found(&server).await;
    put(&server, id, json!({"crawl_enabled": false, "slug": "right"})).await.expect(200);
    assert_eq!(open_tasks(&server, id).await, Vec::<String>::new());
    put(&server, id, json!({"crawl_enabled": true})).await.expect(200);
    assert_eq!(open_tasks(&server, id).await, ["entry_point_discovery"]);
}

#[tokio::test]
async fn a_platform_id_of_another_store_is_refused_with_its_number() {
    let server = Server::start().await;
    let (one, two) = (server.add_store("one").await, server.add_store("two").await);
    let refused = put(&server, two, json!({"name": "Second", "platform_dispensary_id": "one"})).await.problem(409);
    assert_eq!(refused["detail"], format!("store {one} has the platform id one already"));
    let nowhere = put(&server, two, json!({"slug": null, "platform_dispensary_id": ""})).await.problem(409);
    assert!(nowhere["detail"].as_str().unwrap().contains("at least one of them must remain"), "{nowhere}");
    assert_eq!(server.get(&format!("/api/stores/{two}")).await.expect(200)["name"], "two", "nothing of it is changed");
    assert_eq!(put(&server, two, json!({"menu_url": "right"})).await.problem(400)["field"], "menu_url");
    assert_eq!(put(&server, two, json!({"name": null})).await.problem(400)["field"], "name");
    put(&server, 4711, json!({"slug": "x"})).await.problem(404);
}

#[rstest]
#[case::slug(json!({"slug": "NORTH"}), "north")]
#[case::slug_in_its_menu_url(json!({"slug": "south"}), "south")]
#[case::menu_url(json!({"menu_url": "https://dutchie.com/dispensary/north"}), "north")]
#[tokio::test]
async fn an_address_of_another_store_is_refused_with_its_number(#[case] change: Value, #[case] other: &str) {
    let server = Server::start().await;
    let stores = "INSERT INTO dispensaries (id, name, slug, menu_url) VALUES
        (31, 'North', 'North', NULL), (32, 'South', NULL, 'https://dutchie.com/stores/south'), (33, 'East', 'east', NULL);
        INSERT INTO dispensaries (id, name, platform, slug) VALUES (34, 'Plus', 'dutchie_plus', 'free')";
    server.database.raw.batch_execute(stores).await.unwrap();
    let refused = put(&server, 33, change).await.problem(409);
    let (id, name) = if other == "north" { (31, "North") } else { (32, "South") };
    let detail = refused["detail"].as_str().unwrap();
    assert!(detail.starts_with(&format!("store {id} ({name}) has the slug {other} already")), "{detail}");
    assert!(detail.contains(&format!("drover stores edit {id} --slug")), "the remedy: {detail}");
    assert_eq!(server.get("/api/stores/33").await.expect(200)["slug"], "east");

    put(&server, 33, json!({"slug": "free"})).await.expect(200);
    put(&server, 33, json!({"slug": "FREE", "name": "Far East"})).await.expect(200);
}

#[tokio::test]
async fn the_advice_about_a_store_with_the_same_slug_works() {
    let server = Server::start().await;
    let (other, _) = selling(&server).await;
    let mine = server.add_store("mine").await;
    let refused = put(&server, mine, json!({"slug": "a-shop"})).await.problem(409);
    let detail = refused["detail"].as_str().unwrap();
    assert!(detail.contains(&format!("drover stores delete {other} --with-products)")), "{detail}");
    let delete = ["stores", "delete", &other.to_string(), "--with-products"];
    let deleted = drover().env("DATABASE_URL", &server.database.url).args(delete).output().await.unwrap();
    assert!(deleted.status.success(), "{deleted:?}");
    put(&server, mine, json!({"slug": "a-shop"})).await.expect(200);
}

#[tokio::test]
async fn a_slug_that_the_menu_url_overrules_is_refused_with_the_remedy() {
    let server = Server::start().await;
    let stores = "INSERT INTO dispensaries (id, name, menu_url, platform_dispensary_id) VALUES
        (31, 'North', 'https://dutchie.com/stores/wrong', NULL), (32, 'South', 'https://dutchie.com/stores/south', 'known')";
    server.database.raw.batch_execute(stores).await.unwrap();
    let refused = put(&server, 31, json!({"slug": "right"})).await.problem(409);
    let detail = refused["detail"].as_str().unwrap();
    assert!(detail.contains("https://dutchie.com/stores/wrong") && detail.contains("--menu-url"), "{detail}");
    put(&server, 31, json!({"slug": "WRONG"})).await.expect(200);
    put(&server, 31, json!({"slug": "right", "menu_url": null})).await.expect(200);
    assert_eq!(open_tasks(&server, 31).await, ["entry_point_discovery"]);
}

#[rstest]
#[case::slug("--slug", "other", "slug", "--platform-id ''")]
#[case::menu_url("--menu-url", "https://dutchie.com/stores/there", "menu URL", "--platform-id ''")]
#[tokio::test]
async fn an_address_that_the_platform_id_overrules_is_kept_and_the_answer_says_so(
    #[case] flag: &str,
    #[case] value: &str,
    #[case] address: &str,
    #[case] remedy: &str,
) {
    let server = Server::start().await;
    let store =
        "INSERT INTO dispensaries (id, name, slug, platform_dispensary_id) VALUES (32, 'South', 'south', 'known')";
    server.database.raw.batch_execute(store).await.unwrap();
    let edit = async |more: &[&str]| {
        let args = [&["stores", "edit", "32"], more].concat();
        let edited = drover().env("DATABASE_URL", &server.database.url).args(args).output().await.unwrap();
        assert!(edited.status.success(), "{edited:?}");
        String::from_utf8_lossy(&edited.stdout).into_owned()
    };
    let said = edit(&[flag, value]).await;
    assert!(
        said.contains(&format!("the new {address} is stored")) && said.contains("by its platform id known"),
        "{said}"
    );
    assert!(said.ends_with(&format!("run drover stores edit 32 {remedy}\n")), "the remedy: {said}");
    assert!(!edit(&[flag, value]).await.contains("is stored"), "nothing has changed");
    let removed = edit(&["--platform-id", ""]).await;
    assert!(removed.contains("is looked up by task ") && !removed.contains("is stored"), "{removed}");
}

#[tokio::test]
async fn the_remedy_for_a_slug_beside_a_menu_url_removes_both() {
    let server = Server::start().await;
    let store = "INSERT INTO dispensaries (id, name, menu_url, platform_dispensary_id) VALUES (32, 'South', 'https://dutchie.com/stores/south', 'known')";
    server.database.raw.batch_execute(store).await.unwrap();
    let changed = put(&server, 32, json!({"slug": "other"})).await.expect(200);
    let notice = changed["notice"].as_str().unwrap();
    assert!(notice.ends_with("--platform-id '' --menu-url ''"), "{notice}");
    put(&server, 32, json!({"platform_dispensary_id": null, "menu_url": null})).await.expect(200);
    assert_eq!(open_tasks(&server, 32).await, ["entry_point_discovery"]);
}

#[tokio::test]
async fn the_place_of_a_store_is_corrected() {
    let server = Server::start().await;
    let id = server.add_store("leaf").await;
    let place = json!({"city": " Reno ", "state": "nv", "timezone": "America/Los_Angeles"});
    let shown = put(&server, id, place).await.expect(200);
    let of = |shown: &Value| json!(["city", "state", "timezone"].map(|field| &shown[field]));
    assert_eq!(of(&shown), json!(["Reno", "NV", "America/Los_Angeles"]));
    assert_eq!(of(&put(&server, id, json!({"name": "Leaf"})).await.expect(200)), of(&shown), "the rest stays");
    let gone = put(&server, id, json!({"city": "", "state": null, "timezone": null})).await.expect(200);
    assert_eq!(of(&gone), json!([null, null, null]));
    for (field, wrong) in
        [("state", "Nevada"), ("state", "ZZ"), ("timezone", "PST"), ("timezone", "Mars/Phobos"), ("city", "a\nb")]
    {
        let problem = put(&server, id, json!({field: wrong})).await.problem(400);
        assert_eq!(problem["field"], field, "{problem}");
    }
}

#[tokio::test]
async fn a_store_is_corrected_from_the_command_line() {
    let server = Server::start().await;
    let id = not_found(&server).await.to_string();
    let edit = async |more: &[&str]| {
        let args = [&["stores", "edit", &id], more].concat();
        drover().env("DATABASE_URL", &server.database.url).args(args).output().await.unwrap()
    };
    let edited = edit(&["--slug", "right"]).await;
    let text = String::from_utf8_lossy(&edited.stdout).into_owned();
    assert!(
        edited.status.success() && text.contains("slug: right") && text.contains("is looked up by task "),
        "{edited:?}"
    );
    let edited: Value = serde_json::from_slice(&edit(&["--platform-id", "42", "--json"]).await.stdout).unwrap();
    assert_eq!(edited["platform_dispensary_id"], "42");
    assert_eq!(edit(&[]).await.status.code(), Some(2));
    let moved = edit(&["--city", "Reno", "--state", "nv", "--timezone", "America/Los_Angeles"]).await;
    let text = String::from_utf8_lossy(&moved.stdout).into_owned();
    assert!(text.contains("place: Reno, NV, America/Los_Angeles"), "{moved:?}");
    let foreign = edit(&["--menu-url", "https://shop.example.com/stores/right"]).await;
    let text = String::from_utf8_lossy(&foreign.stderr).into_owned();
    assert_eq!(foreign.status.code(), Some(2), "{foreign:?}");
    assert!(
        ["--menu-url: ", "shop.example.com", "dutchie.com", "--platform-id"].iter().all(|word| text.contains(word)),
        "{text}"
    );
    let wrong = edit(&["--menu-url", "right"]).await;
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("--menu-url: "), "{wrong:?}");
    server.add_store("other").await;
    assert_eq!(edit(&["--platform-id", "other"]).await.status.code(), Some(4));
}

async fn delete(server: &Server, path: &str) -> Answer {
    server.send(server.request(Method::DELETE, path).body(Default::default()).unwrap()).await
}

#[tokio::test]
async fn a_deleted_store_takes_its_open_tasks_with_it() {
    let server = Server::start().await;
    let id = not_found(&server).await;
    let other = server.add_store("other").await;
    for store in [id, other] {
        let crawl = json!({"role": "payload_fetch", "dispensary_id": store});
        server.post("/api/tasks", crawl).await.expect(201);
    }
    server.post("/api/pauses", json!({"scope": "store", "of": id.to_string(), "reason": "x"})).await.expect(201);

    let deleted = delete(&server, &format!("/api/stores/{id}")).await.expect(200);

    let expected = json!({"id": id, "name": "Leaf", "products": 0, "payloads": 0, "is_discovered": false});
    assert_eq!(deleted, expected);
    server.get(&format!("/api/stores/{id}")).await.problem(404);
    delete(&server, &format!("/api/stores/{id}")).await.problem(404);
    assert_eq!(open_tasks(&server, id).await, Vec::<String>::new());
    assert_eq!(open_tasks(&server, other).await, ["payload_fetch"]);
    assert_eq!(server.get("/api/pauses").await.expect(200)["pauses"], json!([]));
    let audited = server.get("/api/audit?action=stores.delete").await.expect(200);
    assert_eq!(audited["audit"][0]["target"], id.to_string(), "{audited}");
}

#[tokio::test]
async fn a_store_with_products_is_deleted_only_with_them() {
    let server = Server::start().await;
    let (id, products) = selling(&server).await;
    let other = server.add_store("other").await;
    let refused = delete(&server, &format!("/api/stores/{id}")).await.problem(409);
    let detail = refused["detail"].as_str().unwrap();
    assert!(detail.starts_with(&format!("store {id} has 2 products and 0 payloads: delete it with them")), "{detail}");
    assert_eq!(server.get(&format!("/api/stores/{id}")).await.expect(200)["products"], 2, "nothing of it is gone");

    let deleted = delete(&server, &format!("/api/stores/{id}?with_products=true")).await.expect(200);

    assert_eq!(deleted["products"], 2);
    server.get(&format!("/api/products/{}", products[0])).await.problem(404);
    server.get("/api/products/search?q=blue").await.expect(200);
    let left = server.get("/api/stores").await.expect(200);
    assert_eq!((left["stores"][0]["id"].as_i64(), left["stores"].as_array().unwrap().len()), (Some(other), 1));
}

#[tokio::test]
async fn stores_are_deleted_from_the_command_line() {
    let server = Server::start().await;
    let (id, _) = selling(&server).await;
    let (id, other) = (id.to_string(), not_found(&server).await.to_string());
    let run = async |more: &[&str]| {
        let args = [&["stores", "delete"], more].concat();
        drover().env("DATABASE_URL", &server.database.url).args(args).output().await.unwrap()
    };
    let partly = run(&[&id, &other]).await;
    assert_eq!(partly.status.code(), Some(5), "{partly:?}");
    assert_eq!(String::from_utf8_lossy(&partly.stdout), format!("store {other} is deleted: Leaf\n"));
    assert!(String::from_utf8_lossy(&partly.stderr).contains("--with-products"), "{partly:?}");
    let whole = run(&[&id, "--with-products", "--json"]).await;
    let whole: Value = serde_json::from_slice(&whole.stdout).unwrap();
    assert_eq!(whole["products"], 2);
    assert_eq!(run(&[&id]).await.status.code(), Some(3));
}
