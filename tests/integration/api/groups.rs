//! `/api/groups`, and the commands that ask it.

use http::Method;
use http_body_util::Full;
use serde_json::{Value, json};

use super::server::{Answer, Server};

async fn stores(server: &Server, group: &str, body: Value) -> Value {
    server.post(&format!("/api/groups/{group}/stores"), body).await.expect(200)
}

async fn names(server: &Server) -> Vec<Value> {
    let page = server.get("/api/groups").await.expect(200);
    page["groups"].as_array().unwrap().iter().map(|group| json!([group["name"], group["stores"]])).collect()
}

async fn call(server: &Server, method: Method, path: &str, body: Value) -> Answer {
    let request = server.request(method, path).header("content-type", "application/json");
    server.send(request.body(body.to_string().into()).unwrap()).await
}

#[tokio::test]
async fn stores_come_into_a_group_and_leave_it() {
    let server = Server::start().await;
    let (one, two) = (server.add_store("one").await, server.add_store("two").await);
    let change = stores(&server, "Rivals", json!({"add": [one, two]})).await;
    assert_eq!(change, json!({"group": "rivals", "added": 2, "removed": 0, "stores": 2}));
    let change = stores(&server, "rivals", json!({"add": [one], "remove": [two]})).await;
    assert_eq!(change, json!({"group": "rivals", "added": 0, "removed": 1, "stores": 1}));
    stores(&server, "az", json!({"add": [two]})).await;
    assert_eq!(names(&server).await, [json!(["az", 1]), json!(["rivals", 1])]);
    let first = server.get("/api/groups?limit=1").await.expect(200);
    let cursor = first["next_cursor"].as_str().unwrap();
    let second = server.get(&format!("/api/groups?limit=1&cursor={cursor}")).await.expect(200);
    assert_eq!((&second["groups"][0]["name"], &second["next_cursor"]), (&json!("rivals"), &Value::Null));
}

#[tokio::test]
async fn nothing_is_changed_where_a_store_is_not_there() {
    let server = Server::start().await;
    let one = server.add_store("one").await;
    stores(&server, "rivals", json!({"add": [one]})).await;
    let refused =
        server.post("/api/groups/rivals/stores", json!({"add": [one, 4711], "remove": [one]})).await.problem(404);
    assert!(refused["detail"].as_str().unwrap().contains("store 4711"), "{refused}");
    assert_eq!(names(&server).await, [json!(["rivals", 1])]);
    assert_eq!(server.post("/api/groups/a%20b/stores", json!({"add": [one]})).await.problem(400)["field"], "group");
}

#[tokio::test]
async fn a_group_that_is_renamed_keeps_its_stores_and_schedules() {
    let server = Server::start().await;
    let one = server.add_store("one").await;
    stores(&server, "rivals", json!({"add": [one]})).await;
    stores(&server, "az", json!({"add": [one]})).await;
    let schedule = json!({"name": "hourly", "role": "payload_fetch", "interval_hours": 1, "group_name": "rivals"});
    server.post("/api/schedules", schedule).await.expect(201);
    let put = async |body| call(&server, Method::PUT, "/api/groups/rivals", body).await;
    put(json!({"name": "az"})).await.problem(409);
    let renamed = put(json!({"name": "Neighbours"})).await.expect(200);
    assert_eq!(renamed, json!({"name": "neighbours", "stores": 1, "schedules": ["hourly"]}));
    put(json!({"name": "others"})).await.problem(404);

    let delete = async || {
        server.send(server.request(Method::DELETE, "/api/groups/neighbours").body(Full::default()).unwrap()).await
    };
    let refused = delete().await.problem(409);
    assert!(refused["detail"].as_str().unwrap().contains("hourly"), "{refused}");
    server.database.raw.batch_execute("DELETE FROM task_schedules").await.unwrap();
    assert_eq!(delete().await.status, 204);
    assert_eq!(names(&server).await, [json!(["az", 1])]);
}
