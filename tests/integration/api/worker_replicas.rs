//! The workers' pods in Kubernetes, by the API and the command, with a fake API of Kubernetes on loopback.

use http::Method;
use rstest::rstest;
use serde_json::{Value, json};
use settings::Kubernetes;

use super::server::Server;
use testkit::{ClusterMood, FakeCluster, Farm};

const READ: &str = "/api/workers/k8s/replicas";
const SCALE: &str = "/api/workers/k8s/scale";

async fn with_cluster() -> (FakeCluster, Server) {
    let cluster = FakeCluster::start().await;
    let server = Server::with_cluster(cluster.settings()).await;
    (cluster, server)
}

#[tokio::test]
async fn replicas_are_read_and_set() {
    let (cluster, server) = with_cluster().await;
    let shown = json!({
        "namespace": "dispensary-scraper", "statefulset": "scraper-worker", "replicas": 5, "current_replicas": 5, "ready_replicas": 4,
        "min_replicas": 0, "max_replicas": 50, "autoscaler": null,
    });
    assert_eq!(server.get(READ).await.expect(200), shown);
    let scaled = server.post(SCALE, json!({ "replicas": 8 })).await.expect(202);
    assert_eq!((&scaled["replicas"], &scaled["current_replicas"]), (&json!(8), &json!(5)));
    assert_eq!((cluster.replicas(), server.get(READ).await.expect(200)["replicas"].clone()), (8, json!(8)));
    let audit = server.get("/api/audit").await.expect(200)["audit"][0].clone();
    assert_eq!(
        (&audit["action"], &audit["target"], &audit["detail"]),
        (&json!("workers.scale"), &json!("scraper-worker"), &json!({ "from": 5, "to": 8 }))
    );
}

#[rstest]
#[case::too_few(4)]
#[case::too_many(16)]
#[tokio::test]
async fn only_numbers_within_the_bounds_are_set(#[case] replicas: u32) {
    let cluster = FakeCluster::start().await;
    let bounds = Kubernetes { min_replicas: 5, max_replicas: 15, ..cluster.settings() };
    let server = Server::with_cluster(bounds).await;
    let problem = server.post(SCALE, json!({ "replicas": replicas })).await.problem(400);
    assert_eq!(problem["field"], "replicas");
    assert!(problem["detail"].as_str().unwrap().contains("must be 5 to 15"), "{problem}");
    assert_eq!(cluster.calls(), Vec::<String>::new());
}

#[tokio::test]
async fn an_autoscaler_is_shown() {
    let (cluster, server) = with_cluster().await;
    cluster.annotate(json!({ "dispensary-scraper/autoscaler": "KEDA" }));
    assert_eq!(server.get(READ).await.expect(200)["autoscaler"], "KEDA");
}

#[tokio::test]
async fn a_refusal_of_kubernetes_names_fault_and_remedy() {
    let (cluster, server) = with_cluster().await;
    let cases: [(&str, ClusterMood, u16, &str); 6] = [
        ("forbidden", ClusterMood::Refuses(403), 403, "Role worker-scaler"),
        ("an unknown token", ClusterMood::Refuses(401), 403, "Role worker-scaler"),
        ("missing", ClusterMood::Refuses(404), 404, "kubernetes.statefulset"),
        ("changed meanwhile", ClusterMood::Refuses(409), 409, "try again"),
        ("throttled", ClusterMood::Throttles(7), 429, "try again in 7s"),
        ("failing", ClusterMood::Refuses(500), 503, "answered 500"),
    ];
    for (case, mood, status, expected) in cases {
        println!("{case}");
        cluster.set_mood(mood);
        let calls = cluster.calls().len();
        let answer = server.post(SCALE, json!({ "replicas": 8 })).await;
        let problem = answer.problem(status);
        assert!(problem["detail"].as_str().unwrap().contains(expected), "{problem}");
        let wait = matches!(mood, ClusterMood::Throttles(_)).then_some("8");
        assert_eq!(answer.headers.get("retry-after").map(|seconds| seconds.to_str().unwrap()), wait);
        assert_eq!((cluster.replicas(), cluster.calls().len() - calls), (5, 1), "it does not ask again by itself");
        assert_eq!(server.get("/api/audit").await.expect(200)["audit"], json!([]));
    }
}

#[tokio::test]
async fn a_silent_kubernetes_costs_the_deadline() {
    let cluster = FakeCluster::start().await;
    let server = Server::with_cluster(cluster.hasty_settings()).await;
    cluster.set_mood(ClusterMood::Silent);
    for answer in [server.get(READ).await, server.post(SCALE, json!({ "replicas": 8 })).await] {
        assert!(answer.problem(504)["detail"].as_str().unwrap().contains("kubernetes.timeout"));
    }
}

#[tokio::test]
async fn an_unreachable_kubernetes_is_no_fault_of_the_caller() {
    let (mut cluster, server) = with_cluster().await;
    cluster.shut().await;
    assert!(server.get(READ).await.problem(503)["detail"].as_str().unwrap().contains("cannot be reached"));
}

#[tokio::test]
async fn outside_of_kubernetes_the_remedy_is_named() {
    let server = Server::with_cluster(testkit::config(&[]).kubernetes).await;
    for answer in [server.get(READ).await, server.post(SCALE, json!({ "replicas": 8 })).await] {
        let detail = answer.problem(503)["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains("not in Kubernetes") && detail.contains("kubernetes.kubeconfig"), "{detail}");
    }
}

#[tokio::test]
async fn a_kubeconfig_that_cannot_be_used_is_named() {
    let kubeconfig = Some("/nowhere/kubeconfig".into());
    let server = Server::with_cluster(Kubernetes { kubeconfig, ..testkit::config(&[]).kubernetes }).await;
    let problem = server.get(READ).await.problem(503);
    assert!(problem["detail"].as_str().unwrap().contains("/nowhere/kubeconfig"), "{problem}");
}

#[tokio::test]
async fn only_an_admin_scales() {
    let (cluster, server) = with_cluster().await;
    let operator = server.token("operator").await;
    server.call(Method::GET, READ, &operator, None).await.expect(200);
    let mut request = server.request(Method::POST, SCALE).header("content-type", "application/json");
    request = request.header("authorization", format!("Bearer {operator}"));
    server.send(request.body(json!({ "replicas": 8 }).to_string().into()).unwrap()).await.problem(403);
    assert_eq!(cluster.replicas(), 5);
}

#[tokio::test]
async fn the_command_scales_and_says_so() {
    let (farm, cluster) = (Farm::with_stores(1).await, FakeCluster::start().await);
    cluster.annotate(json!({ "dispensary-scraper/autoscaler": "KEDA" }));
    let scale = async |args: &[&str]| {
        let mut command = farm.drover(&[&["workers", "scale"], args].concat());
        command.env("DROVER__KUBERNETES__KUBECONFIG", cluster.kubeconfig()).output().await.unwrap()
    };
    let text = scale(&["8"]).await;
    let shown = String::from_utf8(text.stdout).unwrap();
    assert!(shown.contains("scraper-worker: 8 pods requested") && shown.contains("KEDA scales it too"), "{shown}");
    let json = scale(&["9", "--json"]).await;
    let answer: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!((&answer["replicas"], cluster.replicas()), (&json!(9), 9));
    let refused = scale(&["99"]).await;
    assert!(!refused.status.success() && String::from_utf8_lossy(&refused.stderr).contains("must be 0 to 50"));
}
