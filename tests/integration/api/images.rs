//! `/img`: stored images, in the size and format that a page needs.

use std::path::Path;
use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use http::Method;
use http_body_util::Full;
use image::{ExtendedColorType, ImageEncoder};
use image_transform::{Format, probe};
use sha2::Sha256;

use super::openapi::IMAGE;
use super::server::{Answer, Server};
use testkit::until;

pub const SOON: Duration = Duration::from_secs(60);
pub const KEY: &str = "a key of more than thirty-two characters";
const WIDTH: u32 = 60;
const HEIGHT: u32 = 40;

/// An image as it is stored.
pub fn webp() -> Vec<u8> {
    let mut png = Vec::new();
    let pixels: Vec<u8> = (0..WIDTH * HEIGHT).flat_map(|at| [at as u8, (at / 7) as u8, (at / 60) as u8]).collect();
    let encoder = image::codecs::png::PngEncoder::new(&mut png);
    encoder.write_image(&pixels, WIDTH, HEIGHT, ExtendedColorType::Rgb8).unwrap();
    image_transform::to_stored(&png).unwrap().webp
}

fn store(server: &Server, path: &str, content: &[u8]) {
    let file = server.storage.path().join("images").join(path);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, content).unwrap();
}

async fn with_image() -> Server {
    let server = Server::start().await;
    store(&server, IMAGE, &webp());
    server
}

async fn ask(server: &Server, method: Method, path: &str, headers: &[(&str, &str)]) -> Answer {
    let request =
        headers.iter().fold(server.request(method, path), |request, (name, value)| request.header(*name, *value));
    server.send(request.body(Full::default()).unwrap()).await
}

fn size(answer: &Answer) -> (Format, u32, u32) {
    assert_eq!(answer.status, 200, "{}", answer.text());
    let header = probe(&answer.body).unwrap();
    assert_eq!(answer.headers["content-type"], header.format.content_type());
    (header.format, header.width, header.height)
}

#[tokio::test]
async fn an_image_has_the_size_and_format_that_is_asked_for() {
    let server = with_image().await;
    let cases: [(&str, Format, u32, u32); 8] = [
        ("?w=30", Format::WebP, 30, 20),
        ("?h=10", Format::WebP, 15, 10),
        ("?w=30&h=10", Format::WebP, 15, 10),
        ("?w=30&h=30&fit=cover", Format::WebP, 30, 30),
        ("?w=30&format=jpeg", Format::Jpeg, 30, 20),
        ("?format=png", Format::Png, WIDTH, HEIGHT),
        ("?w=600", Format::WebP, WIDTH, HEIGHT),
        ("?w=120&enlarge=1", Format::WebP, 120, 80),
    ];
    for (query, format, width, height) in cases {
        println!("{query}");
        assert_eq!(size(&server.get(&format!("/img/{IMAGE}{query}")).await), (format, width, height));
    }
}

#[tokio::test]
async fn without_parameters_the_stored_file_itself_is_answered() {
    let server = with_image().await;
    assert_eq!(server.get(&format!("/img/{IMAGE}")).await.body, webp());
}

#[tokio::test]
async fn auto_is_the_best_format_that_the_client_names() {
    let server = with_image().await;
    let path = format!("/img/{IMAGE}?w=30&format=auto");
    for (accept, format) in [("image/webp,*/*", Format::WebP), ("image/jpeg", Format::Jpeg)] {
        let answer = ask(&server, Method::GET, &path, &[("accept", accept)]).await;
        assert_eq!((size(&answer).0, answer.headers["vary"].to_str().unwrap()), (format, "accept"));
    }
}

#[tokio::test]
async fn an_answer_may_be_kept_for_ever_and_run_nothing() {
    let server = with_image().await;
    let answer = server.get(&format!("/img/{IMAGE}?w=30")).await;
    for (name, value) in [
        ("cache-control", "public, max-age=31536000, immutable"),
        ("content-security-policy", "sandbox"),
        ("x-content-type-options", "nosniff"),
        ("accept-ranges", "bytes"),
        ("cross-origin-resource-policy", "cross-origin"),
    ] {
        assert_eq!(answer.headers[name], value);
    }
    assert!(answer.headers.contains_key("etag") && answer.headers.contains_key("last-modified"));
}

#[tokio::test]
async fn a_client_that_has_it_gets_it_not_again() {
    let server = with_image().await;
    let path = format!("/img/{IMAGE}?w=30");
    let first = server.get(&path).await;
    let tag = first.headers["etag"].to_str().unwrap();
    let date = first.headers["last-modified"].to_str().unwrap();
    for (header, expected) in [
        (("if-none-match", tag), 304),
        (("if-none-match", "\"another\""), 200),
        (("if-modified-since", date), 304),
        (("if-modified-since", "Thu, 01 Jan 1970 00:00:00 GMT"), 200),
    ] {
        let answer = ask(&server, Method::GET, &path, &[header]).await;
        assert_eq!(answer.status.as_u16(), expected, "{header:?}");
        assert_eq!(answer.headers["etag"], tag);
    }
}

#[tokio::test]
async fn head_is_get_without_the_body() {
    let server = with_image().await;
    let path = format!("/img/{IMAGE}?w=30");
    let (get, head) = (server.get(&path).await, ask(&server, Method::HEAD, &path, &[]).await);
    assert_eq!((head.status, head.body.len()), (get.status, 0));
    for name in ["content-type", "content-length", "etag", "last-modified", "cache-control"] {
        assert_eq!(head.headers[name], get.headers[name], "{name}");
    }
}

#[tokio::test]
async fn a_part_is_answered() {
    let server = with_image().await;
    let (path, whole) = (format!("/img/{IMAGE}"), webp());
    let cases: [(&str, i64, i64); 4] =
        [("bytes=0-3", 0, 3), ("bytes=-4", -4, -1), ("bytes=4-", 4, -1), ("bytes=4-1000000", 4, -1)];
    for (range, first, last) in cases {
        println!("{range}");
        let answer = ask(&server, Method::GET, &path, &[("range", range)]).await;
        let at = |place: i64| if place < 0 { whole.len() as i64 + place } else { place };
        assert_eq!(answer.status, 206);
        assert_eq!(answer.body, whole[at(first) as usize..=at(last) as usize]);
        assert_eq!(answer.headers["content-range"], format!("bytes {}-{}/{}", at(first), at(last), whole.len()));
    }
}

#[tokio::test]
async fn a_part_of_another_version_is_the_whole() {
    let server = with_image().await;
    let path = format!("/img/{IMAGE}");
    let tag = server.get(&path).await.headers["etag"].to_str().unwrap().to_owned();
    for (had, status) in [(tag.as_str(), 206), ("\"another\"", 200)] {
        let answer = ask(&server, Method::GET, &path, &[("range", "bytes=0-3"), ("if-range", had)]).await;
        assert_eq!(answer.status.as_u16(), status);
    }
}

#[tokio::test]
async fn a_wrong_parameter_is_named() {
    let server = with_image().await;
    let cases: [(&str, &str); 13] = [
        ("w=0", "w"),
        ("h=4001", "h"),
        ("w=ten", "w"),
        ("w=1&w=2", "w"),
        ("q=101", "q"),
        ("width=10", "width"),
        ("fit=stretch", "fit"),
        ("format=gif", "format"),
        ("blur=0.1", "blur"),
        ("bg=red", "bg"),
        ("placeholder=yes", "placeholder"),
        ("placeholder=1&placeholder=1", "placeholder"),
        ("s=00", "s"),
    ];
    for (query, field) in cases {
        println!("{query}");
        let problem = server.get(&format!("/img/{IMAGE}?{query}")).await.problem(400);
        assert_eq!(problem["field"], field, "{problem}");
    }
}

#[tokio::test]
async fn nothing_outside_of_the_images_is_opened() {
    let (server, outside) = (with_image().await, tempfile::tempdir().unwrap());
    let canary = outside.path().join("logo-ae38b1f9.webp");
    std::fs::write(&canary, webp()).unwrap();
    std::fs::write(server.storage.path().join("canary"), webp()).unwrap();
    let brands = server.storage.path().join("images/brands");
    std::fs::create_dir_all(brands.join("linked-file")).unwrap();
    let link = std::os::unix::fs::symlink::<&Path, _>;
    link(&canary, brands.join("linked-file/logo-ae38b1f9.webp")).unwrap();
    link(outside.path(), brands.join("linked-dir")).unwrap();
    let cases: [&str; 16] = [
        "../../canary",
        "brands/../../canary/logo-ae38b1f9.webp",
        "%2e%2e/%2e%2e/canary",
        "brands%2f..%2f..%2fcanary",
        "%252e%252e%252fcanary",
        "brands\\..\\..\\canary",
        "..%5c..%5ccanary",
        "brands/bud-bros/logo-ae38b1f9.webp%00.png",
        "/etc/passwd",
        "%2fetc%2fpasswd",
        "brands/linked-file/logo-ae38b1f9.webp",
        "brands/linked-dir/logo-ae38b1f9.webp",
        "brands/bud-bros/canary",
        "../payloads/.database",
        "brands/bud-bros",
        &"a/".repeat(3000),
    ];
    for path in cases {
        println!("{path}");
        for query in ["", "?w=10"] {
            let Ok(request) = server.request(Method::GET, &format!("/img/{path}{query}")).body(Full::default()) else {
                // not an address that HTTP allows
                continue;
            };
            let answer = server.send(request).await;
            assert!([400, 404].contains(&answer.status.as_u16()), "{path}: {}", answer.status);
        }
    }
}

#[tokio::test]
async fn an_image_that_is_not_there_is_a_placeholder_by_wish() {
    let server = Server::start().await;
    server.get(&format!("/img/{IMAGE}?w=10")).await.problem(404);
    let request = server.request(Method::GET, &format!("/img/{IMAGE}?w=10&placeholder=1"));
    let answer = server.send(request.body(Full::default()).unwrap()).await;
    assert_eq!((answer.status.as_u16(), &answer.headers["content-type"]), (404, &"image/png".parse().unwrap()));
    assert_eq!(probe(&answer.body).map(|header| (header.width, header.height)).unwrap(), (1, 1));
}

#[tokio::test]
async fn a_product_and_a_brand_have_addresses_that_stay() {
    let server = with_image().await;
    let shop = server.add_store("a").await;
    let sql = format!(
        "INSERT INTO brands (name, slug, local_image_path) VALUES ('Bud Bros', 'bud-bros', 'images/{IMAGE}');
         INSERT INTO store_products (id, dispensary_id, provider, provider_product_id, name_raw, is_on_special, quantity_censored,
                                     is_in_stock, stock_status, first_seen_at, last_seen_at, image_url, local_image_path)
         OVERRIDING SYSTEM VALUE
         VALUES (1, {shop}, 'dutchie', 'a', 'a', false, false, true, 'in_stock', now(), now(), 'https://i/a', 'images/{IMAGE}'),
                (2, {shop}, 'dutchie', 'b', 'b', false, false, true, 'in_stock', now(), now(), 'https://i/b', NULL)"
    );
    server.database.raw.batch_execute(&sql).await.unwrap();
    for path in ["/img/product/1?w=30", "/img/brand/bud-bros?w=30", "/img/brand/Bud%20Bros?w=30"] {
        let answer = server.get(path).await;
        assert_eq!(size(&answer), (Format::WebP, 30, 20));
        assert_eq!(answer.headers["cache-control"], "public, max-age=60", "another image may come");
    }
    for older in ["/storage/images", "/images"] {
        let sql = format!(
            "UPDATE store_products SET local_image_path = '{older}/{IMAGE}' WHERE id = 1;
             UPDATE brands SET local_image_path = '{older}/{IMAGE}'"
        );
        server.database.raw.batch_execute(&sql).await.unwrap();
        assert_eq!(size(&server.get("/img/product/1?w=30").await), (Format::WebP, 30, 20), "{older}");
        assert_eq!(size(&server.get("/img/brand/bud-bros?w=30").await), (Format::WebP, 30, 20), "{older}");
        let product = server.get("/api/products/1").await.expect(200);
        assert_eq!(product["local_image_path"], format!("images/{IMAGE}"), "{older}");
    }
    let missing = server.get("/img/product/2?w=30").await;
    missing.problem(404);
    assert_eq!(missing.headers["link"], "<https://i/b>; rel=\"original\"");
    server.get("/img/product/3").await.problem(404);
    server.get("/img/brand/another").await.problem(404);
}

#[tokio::test]
async fn images_are_open_unless_a_token_is_asked_for() {
    let server = with_image().await;
    let token = server.token("consumer").await;
    until("the server asks for a token", SOON, async || server.get("/api/tasks").await.status == 401).await;
    assert_eq!(server.get(&format!("/img/{IMAGE}")).await.status, 200);

    let server = Server::with_images(|images| images.access = "token".to_owned()).await;
    store(&server, IMAGE, &webp());
    drop(token);
    let token = server.token("consumer").await;
    let path = format!("/img/{IMAGE}?w=10");
    let status = async |token| server.status(&Method::GET, &path, token).await;
    until("the server asks for a token", SOON, async || status(None).await == 401).await;
    assert_eq!(status(Some(&token)).await, 200);
}

pub fn sign(address: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(KEY.as_bytes()).unwrap();
    mac.update(address.as_bytes());
    mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[tokio::test]
async fn with_a_key_only_signed_addresses_and_known_callers_are_served() {
    let server = Server::with_images(|images| images.signing_key = KEY.into()).await;
    store(&server, IMAGE, &webp());
    let token = server.token("consumer").await;
    until("the server asks for a token", SOON, async || server.get("/api/tasks").await.status == 401).await;
    let signature = sign(&format!("/img/{IMAGE}?format=jpeg&w=30"));
    let answer = server.get(&format!("/img/{IMAGE}?w=30&format=jpeg&s={signature}")).await;
    assert_eq!(size(&answer), (Format::Jpeg, 30, 20));
    server.get(&format!("/img/{IMAGE}?w=31&format=jpeg&s={signature}")).await.problem(403);
    server.get(&format!("/img/{IMAGE}?w=30&format=jpeg")).await.problem(403);
    let known = server.call(Method::GET, &format!("/img/{IMAGE}?w=30"), &token, None).await;
    assert_eq!(size(&known), (Format::WebP, 30, 20));
}

#[tokio::test]
async fn where_too_many_ask_the_rest_is_told_when_to_come_again() {
    let server = Server::with_images(|images| images.render_queue = 0).await;
    store(&server, IMAGE, &webp());
    let answer = server.get(&format!("/img/{IMAGE}?w=30")).await;
    answer.problem(503);
    assert_eq!(answer.headers["retry-after"], "1");
    assert_eq!(server.get(&format!("/img/{IMAGE}")).await.status, 200, "the original needs no rendering");
}

/// Each on a connection of its own: more than an address may have.
#[tokio::test]
async fn two_hundred_clients_at_once_get_an_image_or_the_time_to_come_again() {
    let server = Server::with(|config| config.connections_per_address = 64).await;
    store(&server, IMAGE, &webp());
    let ask = async |n: u32| server.get(&format!("/img/{IMAGE}?w={}&blur=2", 1 + n % WIDTH)).await;
    let asking = futures_util::future::join_all((0..200).map(ask));
    let answers = tokio::time::timeout(SOON, asking).await.expect("none hangs");
    for answer in answers.iter().filter(|answer| answer.status != 200) {
        answer.problem(503);
        assert_eq!(answer.headers["retry-after"], "1");
    }
    assert!(answers.iter().any(|answer| answer.status == 200));
}

/// Room for one render: the others wait for it.
#[tokio::test]
async fn equal_requests_at_the_same_time_render_once() {
    let server = Server::with_images(|images| images.render_queue = 1).await;
    store(&server, IMAGE, &webp());
    let path = format!("/img/{IMAGE}?w=30&blur=5");
    let answers = futures_util::future::join_all((0..20).map(|_| server.get(&path))).await;
    assert!(answers.iter().all(|answer| answer.status == 200 && answer.body == answers[0].body));
}

#[tokio::test]
async fn a_variant_is_kept_on_disk() {
    let server = with_image().await;
    let path = format!("/img/{IMAGE}?w=30");
    let first = server.get(&path).await;
    let cache = server.storage.path().join("image-cache");
    let kept = || -> usize {
        let dirs = std::fs::read_dir(&cache).into_iter().flatten();
        dirs.map(|dir| std::fs::read_dir(dir.unwrap().path()).unwrap().count()).sum()
    };
    assert_eq!(kept(), 1);
    // its original may even go
    std::fs::remove_file(server.storage.path().join("images").join(IMAGE)).unwrap();
    assert_eq!(server.get(&path).await.body, first.body);
    assert_eq!(kept(), 1);
}
