//! The API below a path, as a server in front of it passes requests on.

use http::Method;
use http_body_util::Full;
use serde_json::json;

use super::server::Server;
use testkit::drover;

async fn below_drover() -> Server {
    Server::with(|config| config.base_path = "/ops/drover".to_owned()).await
}

#[tokio::test]
async fn everything_is_served_below_the_base_path_and_nothing_beside_it() {
    let server = below_drover().await;
    for path in ["/livez", "/readyz", "/metrics", "/api/tasks", "/api/openapi.json"] {
        assert_eq!(server.get(&format!("/ops/drover{path}")).await.status, 200, "{path}");
        server.get(path).await.problem(404);
    }
    server.get("/ops/drover/api/nothing").await.problem(404);
    server.get("/ops/drover-two/api/tasks").await.problem(404);
    server.post("/ops/drover/livez", json!({})).await.problem(405);
    let described = server.get("/ops/drover/api/openapi.json").await.expect(200);
    assert_eq!(described["servers"], json!([{ "url": "/ops/drover" }]));
}

#[tokio::test]
async fn what_an_answer_points_to_is_below_the_base_path() {
    let server = below_drover().await;
    let store = server.add_store("one").await;
    let other = server.add_store("two").await;
    let make = |store| json!({"role": "payload_fetch", "dispensary_id": store});
    let made = server.post("/ops/drover/api/tasks", make(store)).await;
    let location = made.headers["location"].to_str().unwrap().to_owned();
    assert_eq!(server.get(&location).await.expect(200)["id"], made.expect(201)["id"]);
    server.post("/ops/drover/api/tasks", make(other)).await.expect(201);

    let page = server.get("/ops/drover/api/tasks?limit=1").await;
    let link = page.headers["link"].to_str().unwrap();
    let next = link.split(['<', '>']).nth(1).unwrap();
    assert_eq!(server.get(next).await.expect(200)["tasks"][0]["id"], made.json()["id"]);
}

#[tokio::test]
async fn a_login_is_for_the_base_path_alone() {
    let server = below_drover().await;
    let token = server.token("viewer").await;
    let request = server.request(Method::POST, "/ops/drover/api/session");
    let answer = server.send(request.body(Full::from(json!({ "token": token }).to_string())).unwrap()).await;
    let cookie = answer.headers["set-cookie"].to_str().unwrap();
    assert!(cookie.contains("; Path=/ops/drover/;"), "{cookie}");
    let cookie = cookie.split(';').next().unwrap();
    let request = server.request(Method::GET, "/ops/drover/api/tasks").header("cookie", cookie);
    server.send(request.body(Full::default()).unwrap()).await.expect(200);
}

#[tokio::test]
async fn commands_take_an_address_with_the_base_path() {
    let server = below_drover().await;
    let token = server.token("viewer").await;
    let url = format!("http://{}/ops/drover", server.address);
    let run =
        drover().args(["tasks", "list", "--json", "--url", &url]).env("DROVER_TOKEN", token).output().await.unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    assert_eq!(serde_json::from_slice::<serde_json::Value>(&run.stdout).unwrap()["tasks"], json!([]));
}
