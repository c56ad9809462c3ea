//! The dashboard's document and files, as the API serves them.

use crate::api::server::{Answer, Server};

/// The addresses of the files that a document names.
fn files_of(document: &str) -> Vec<String> {
    let marks = ["src=\"", "href=\""];
    let all = marks.iter().flat_map(|mark| document.split(mark).skip(1));
    all.filter_map(|rest| rest.split('"').next()).filter(|path| path.contains("/ui/")).map(str::to_owned).collect()
}

fn header<'a>(answer: &'a Answer, name: &str) -> &'a str {
    answer.headers.get(name).map_or("", |value| value.to_str().unwrap())
}

#[tokio::test]
async fn every_page_is_one_document_with_a_strict_policy() {
    let server = Server::start().await;
    for path in ["/admin", "/admin/tasks", "/admin/tasks/17", "/admin/payloads/diff?from=1&to=2", "/login"] {
        let page = server.get(path).await;
        assert_eq!((page.status.as_u16(), header(&page, "content-type")), (200, "text/html; charset=utf-8"), "{path}");
        let policy = header(&page, "content-security-policy");
        assert!(policy.contains("script-src 'self';") && policy.contains("default-src 'none'"), "{policy}");
        assert_eq!((header(&page, "x-frame-options"), header(&page, "cache-control")), ("DENY", "no-store"));
    }
    let root = server.get("/").await;
    assert_eq!((root.status.as_u16(), header(&root, "location")), (303, "/admin"));
}

#[tokio::test]
async fn its_files_may_be_kept_for_ever_and_another_build_has_others() {
    let server = Server::start().await;
    let files = files_of(&server.get("/admin").await.text());
    assert_eq!(files.len(), 5, "{files:?}");
    for file in &files {
        let answer = server.get(file).await;
        assert_eq!(answer.status, 200, "{file}");
        assert!(header(&answer, "cache-control").contains("immutable"), "{file}");
        assert_ne!(header(&answer, "content-type"), "application/octet-stream", "{file}");
    }
    let version = files[0].split('/').nth(2).unwrap();
    let vendor = server.get(&format!("/ui/{version}/vendor/hooks.js")).await.text();
    assert!(vendor.contains("from\"./preact.js\""), "a browser knows no package names");
    for absent in
        [format!("/ui/{version}/nothing.js"), format!("/ui/{version}/../Cargo.toml"), "/ui/older/app.js".to_owned()]
    {
        server.get(&absent).await.problem(404);
    }
}

#[tokio::test]
async fn below_a_path_the_document_names_it() {
    let server = Server::with(|config| config.base_path = "/ops/drover".to_owned()).await;
    for path in ["/ops/drover", "/ops/drover/"] {
        let root = server.get(path).await;
        assert_eq!((root.status.as_u16(), header(&root, "location")), (303, "/ops/drover/admin"), "{path}");
    }
    let page = server.get("/ops/drover/admin/workers").await.text();
    assert!(page.contains("<meta name=\"drover-base-path\" content=\"/ops/drover\">"), "{page}");
    for file in files_of(&page) {
        assert!(file.starts_with("/ops/drover/ui/"), "{file}");
        assert_eq!(server.get(&file).await.status, 200, "{file}");
    }
    server.get("/admin").await.problem(404);
}
