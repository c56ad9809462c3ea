//! Pictures are served as their kind says, and the oracle knows a careful client's result beforehand.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use image::{AnimationDecoder, ImageReader};
use sha2::{Digest, Sha256};
use sim::{OraclePicture, Photo, PictureAnswer, PictureKind, Settings, Simulator};

use crate::support::{Answer, PATIENCE, Way, certified, http2, send, small};

const MAX_BODY: usize = 20 << 20;
const MAX_REDIRECTS: usize = 3;

/// Settings with some pictures of every kind.
fn large() -> Settings {
    Settings { stores: 8, products_per_store: 400..=500, ..small() }
}

fn start() -> Simulator {
    Simulator::start(large()).unwrap()
}

/// The addresses that products name, in no particular order.
fn products(sim: &Simulator) -> Vec<String> {
    let stores = sim.oracle(1).into_iter();
    stores.flat_map(|store| store.products).filter_map(|product| product.image_url).collect()
}

fn of_kind(sim: &Simulator, kind: PictureKind) -> Vec<String> {
    let addresses = products(sim).into_iter().filter(|url| sim.picture_kind(url) == Some(kind));
    addresses.collect()
}

fn photo(sim: &Simulator, url: &str) -> Photo {
    match sim.picture(url) {
        Some(PictureAnswer::Good(photo)) => photo,
        other => panic!("{url}: {other:?}"),
    }
}

async fn ask(sim: &Simulator, method: &str, url: &str) -> Result<Answer> {
    let host = sim.base_url().trim_start_matches("http://");
    let request = Request::builder().method(method).uri(url).header("host", host).body(Full::default())?;
    send(sim, &Way::Direct, request).await
}

async fn get(sim: &Simulator, url: &str) -> Result<Answer> {
    ask(sim, "GET", url).await
}

fn header<'a>(answer: &'a Answer, name: &str) -> &'a str {
    answer.headers.get(name).map(|value| value.to_str().unwrap()).unwrap_or_default()
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The reason of drover's that a careful client gives up for, or the file.
async fn fetch(sim: &Simulator, url: &str) -> Result<Bytes, &'static str> {
    let mut url = url::Url::parse(url).unwrap();
    for _ in 0..=MAX_REDIRECTS {
        let answer = get(sim, url.as_str()).await.map_err(|_| "http")?;
        match answer.status.as_u16() {
            200 => return judged(answer),
            300..400 => url = url.join(header(&answer, "location")).unwrap(),
            _ => return Err("http"),
        }
        if !url.as_str().starts_with(sim.pictures_url()) {
            return Err("refused_redirect");
        }
    }
    Err("http")
}

fn judged(answer: Answer) -> Result<Bytes, &'static str> {
    if answer.body.len() > MAX_BODY {
        return Err("too_large");
    }
    let reader = ImageReader::new(std::io::Cursor::new(answer.body.clone())).with_guessed_format().unwrap();
    let (width, height) = reader.into_dimensions().map_err(|_| "not_an_image")?;
    if u64::from(width) * u64::from(height) > 50_000_000 {
        return Err("too_large");
    }
    if is_whole(&answer.body) { Ok(answer.body) } else { Err("truncated") }
}

/// Looks at the end of each format, since some decoders make do with half a file.
fn is_whole(bytes: &[u8]) -> bool {
    match bytes {
        [0xff, 0xd8, ..] => bytes.ends_with(&[0xff, 0xd9]),
        [0x89, b'P', ..] => bytes.ends_with(b"IEND\xae\x42\x60\x82"),
        [b'R', b'I', b'F', b'F', length @ ..] => {
            bytes.len() == 8 + u32::from_le_bytes(length[..4].try_into().unwrap()) as usize
        }
        _ => bytes.ends_with(b";"),
    }
}

#[test]
fn every_kind_occurs_and_most_pictures_are_plain() {
    let sim = start();
    let mut kinds: BTreeMap<PictureKind, usize> = BTreeMap::new();
    for url in products(&sim) {
        *kinds.entry(sim.picture_kind(&url).unwrap()).or_default() += 1;
    }
    let (plain, all) = (kinds[&PictureKind::Plain], kinds.values().sum::<usize>());
    assert_eq!(kinds.len(), PictureKind::ALL.len(), "{kinds:?}");
    assert!((75..88).contains(&(plain * 100 / all)), "{plain} of {all}");
}

#[tokio::test]
async fn a_careful_client_ends_with_what_the_oracle_says_for_every_kind() {
    let sim = start();
    for kind in PictureKind::ALL {
        for url in of_kind(&sim, kind).iter().take(6) {
            let expected = match sim.picture(url).unwrap() {
                PictureAnswer::Good(photo) => Ok(photo.sha256),
                PictureAnswer::Bad { reason } => Err(reason),
            };
            let fetched = fetch(&sim, url).await.map(|bytes| sha256(&bytes));
            assert_eq!((&fetched, expected.as_ref().err().copied()), (&expected, kind.failure()), "{kind:?} {url}");
        }
    }
}

#[test]
fn good_files_decode_to_their_size_and_have_their_hash() {
    let sim = start();
    let mut seen = HashSet::new();
    for url in products(&sim) {
        let Some(PictureAnswer::Good(photo)) = sim.picture(&url) else { continue };
        if !seen.insert(photo.sha256.clone()) {
            continue;
        }
        let picture = image::load_from_memory(&photo.bytes).unwrap();
        assert_eq!((picture.width(), picture.height()), (photo.width, photo.height), "{photo:?}");
        assert_eq!(sha256(&photo.bytes), photo.sha256);
        assert!(is_whole(&photo.bytes), "{photo:?}");
    }
    assert!((200..=4 * 97).contains(&seen.len()), "{} distinct files", seen.len());
}

#[test]
fn files_come_in_four_formats_some_transparent_some_moving_some_large() {
    let sim = start();
    let good = products(&sim).into_iter().filter_map(|url| match sim.picture(&url) {
        Some(PictureAnswer::Good(photo)) => Some(photo),
        _ => None,
    });
    let good: Vec<Photo> = good.collect();
    let of = |content_type| good.iter().filter(move |photo| photo.content_type == content_type);
    let share = |content_type| of(content_type).count() * 100 / good.len();
    assert!((40..55).contains(&share("image/jpeg")), "{}", share("image/jpeg"));
    assert!((15..30).contains(&share("image/png")), "{}", share("image/png"));
    assert!((15..30).contains(&share("image/webp")), "{}", share("image/webp"));
    assert!((3..12).contains(&share("image/gif")), "{}", share("image/gif"));
    for format in ["image/png", "image/webp"] {
        let alpha =
            |photo: &Photo| image::load_from_memory(&photo.bytes).unwrap().to_rgba8().pixels().any(|p| p.0[3] == 0);
        let few: Vec<bool> = of(format).take(60).map(alpha).collect();
        assert!(few.contains(&true) && few.contains(&false), "{format}");
    }
    let frames = |photo: &Photo| {
        image::codecs::gif::GifDecoder::new(std::io::Cursor::new(&photo.bytes)).unwrap().into_frames().count()
    };
    assert_eq!(of("image/gif").take(40).map(frames).collect::<HashSet<_>>(), HashSet::from([1, 2]));
    assert!(good.iter().any(|photo| photo.width == 400) && good.iter().any(|photo| photo.width == 1200));
}

#[tokio::test]
async fn a_good_answer_has_its_type_and_length_and_head_has_them_without_the_file() {
    let sim = start();
    let url = of_kind(&sim, PictureKind::Plain).swap_remove(0);
    let photo = photo(&sim, &url);
    for (method, body) in [("GET", photo.bytes.clone()), ("HEAD", Bytes::new())] {
        let answer = ask(&sim, method, &url).await.unwrap();
        assert_eq!((answer.status.as_u16(), answer.body), (200, body), "{method}");
        assert_eq!(answer.headers["content-type"], photo.content_type);
        assert_eq!(answer.headers["content-length"], photo.bytes.len().to_string());
    }
    assert_eq!(ask(&sim, "POST", &url).await.unwrap().status, 405);
}

#[tokio::test]
async fn redirects_are_of_every_status_and_form() {
    let sim = start();
    let (mut statuses, mut forms, mut lengths) = (HashSet::new(), HashSet::new(), HashSet::new());
    for url in of_kind(&sim, PictureKind::Redirected) {
        let (mut at, mut redirects) = (url::Url::parse(&url).unwrap(), 0);
        loop {
            let answer = get(&sim, at.as_str()).await.unwrap();
            if answer.status == 200 {
                break assert_eq!(sha256(&answer.body), photo(&sim, &url).sha256);
            }
            let location = header(&answer, "location");
            statuses.insert(answer.status.as_u16());
            forms.insert((location.starts_with("http"), location.starts_with('/')));
            (at, redirects) = (at.join(location).unwrap(), redirects + 1);
        }
        lengths.insert(redirects);
    }
    assert_eq!(statuses, HashSet::from([301, 302, 307]));
    assert_eq!(forms, HashSet::from([(true, false), (false, true), (false, false)]));
    assert_eq!(lengths, HashSet::from([1, 2, 3]));
}

#[tokio::test]
async fn a_lie_about_the_type_is_of_a_good_jpeg_or_png() {
    let sim = start();
    let mut lies = HashSet::new();
    for url in of_kind(&sim, PictureKind::Mislabelled) {
        let answer = get(&sim, &url).await.unwrap();
        assert!(["image/jpeg", "image/png"].contains(&photo(&sim, &url).content_type));
        assert_eq!(sha256(&answer.body), photo(&sim, &url).sha256);
        lies.insert(header(&answer, "content-type").to_owned());
    }
    assert_eq!(lies, ["image/gif", "text/plain", "application/octet-stream"].map(str::to_owned).into());
}

#[tokio::test]
async fn a_slow_picture_is_whole_in_the_end() {
    let sim = start();
    let url = of_kind(&sim, PictureKind::Slow).swap_remove(0);
    let started = std::time::Instant::now();
    assert_eq!(get(&sim, &url).await.unwrap().body, photo(&sim, &url).bytes);
    assert!(started.elapsed() > Duration::from_millis(500));
}

#[tokio::test]
async fn half_a_file_is_announced_as_what_there_is_of_it() {
    let sim = start();
    for url in of_kind(&sim, PictureKind::HalfFile) {
        let answer = get(&sim, &url).await.unwrap();
        assert_eq!(header(&answer, "content-length"), answer.body.len().to_string());
        assert!(header(&answer, "content-type").starts_with("image/"));
        assert_eq!(judged(answer), Err("truncated"), "{url}");
    }
}

#[tokio::test]
async fn a_large_body_is_announced_or_comes_without_a_length() {
    let sim = start();
    let mut announced = HashSet::new();
    for url in of_kind(&sim, PictureKind::LargeBody) {
        let head = ask(&sim, "HEAD", &url).await.unwrap();
        announced.insert(head.headers.contains_key("content-length"));
    }
    assert_eq!(announced, HashSet::from([true, false]));
}

#[tokio::test]
async fn failing_pictures_have_their_status_and_what_is_no_picture_has_its_type() {
    let sim = start();
    let statuses = async |kind| {
        let mut statuses = HashSet::new();
        for url in of_kind(&sim, kind) {
            let answer = get(&sim, &url).await.unwrap();
            statuses.insert((answer.status.as_u16(), header(&answer, "content-type").to_owned()));
        }
        statuses
    };
    let of = |status: u16, content_type: &str| (status, content_type.to_owned());
    assert_eq!(statuses(PictureKind::NotFound).await, HashSet::from([of(404, "text/plain")]));
    assert_eq!(statuses(PictureKind::Failing).await, HashSet::from([of(410, "text/plain"), of(500, "text/plain")]));
    for kind in [PictureKind::RandomBytes, PictureKind::Html, PictureKind::Empty] {
        assert_eq!(statuses(kind).await, HashSet::from([of(200, "image/jpeg")]), "{kind:?}");
    }
    assert_eq!(statuses(PictureKind::Svg).await, HashSet::from([of(200, "image/svg+xml")]));
}

#[test]
fn equal_seeds_have_equal_pictures_and_other_seeds_others() {
    let truth = |seed| {
        let sim = Simulator::start(Settings { seed, ..large() }).unwrap();
        let of = |url: String| {
            (url.trim_start_matches(sim.pictures_url()).to_owned(), sim.picture(&url), sim.picture_kind(&url))
        };
        products(&sim).into_iter().map(of).collect::<Vec<_>>()
    };
    assert!(truth(3) == truth(3));
    assert!(truth(3) != truth(4));
}

#[test]
fn the_oracle_has_a_picture_wherever_there_is_an_address() {
    let sim = start();
    let mut without = 0;
    for product in sim.oracle(1).into_iter().flat_map(|store| store.products) {
        let expected = product.image_url.as_deref().map(|url| match sim.picture(url).unwrap() {
            PictureAnswer::Good(photo) => OraclePicture::Good { sha256: photo.sha256 },
            PictureAnswer::Bad { reason } => OraclePicture::Bad { reason },
        });
        without += usize::from(expected.is_none());
        assert_eq!(product.picture, expected);
    }
    assert!(without > 0);
}

#[tokio::test]
async fn brands_are_those_of_the_products_and_their_logos_are_served() {
    let sim = start();
    let (brands, products) = (sim.oracle_brands(1), sim.oracle(1).into_iter().flat_map(|store| store.products));
    let products: Vec<_> = products.collect();
    let logos: HashSet<&str> = products.iter().filter_map(|product| product.brand_image_url.as_deref()).collect();
    let names: HashSet<&str> = products.iter().filter_map(|product| product.brand.as_deref()).collect();
    assert_eq!(brands.iter().filter_map(|brand| brand.image_url.as_deref()).collect::<HashSet<_>>(), logos);
    assert_eq!(brands.iter().map(|brand| brand.name.as_str()).collect::<HashSet<_>>(), names);
    for brand in brands {
        let Some(url) = brand.image_url else { continue };
        let fetched = match fetch(&sim, &url).await {
            Ok(bytes) => OraclePicture::Good { sha256: sha256(&bytes) },
            Err(reason) => OraclePicture::Bad { reason },
        };
        assert_eq!(Some(fetched), brand.picture, "{url}");
    }
}

#[tokio::test]
async fn whole_good_answers_are_counted_by_address() {
    let sim = start();
    let path = |url: &str| url.trim_start_matches(sim.pictures_url()).to_owned();
    let (plain, redirected) = (of_kind(&sim, PictureKind::Plain), of_kind(&sim, PictureKind::Redirected));
    let (html, broken) = (of_kind(&sim, PictureKind::Html), of_kind(&sim, PictureKind::BrokenOff));
    for url in [&plain[0], &plain[0], &plain[1], &redirected[0], &html[0], &broken[0]] {
        let _ = fetch(&sim, url).await;
    }
    ask(&sim, "HEAD", &plain[2]).await.unwrap();
    let stranger = format!("{}/dutchie-images/{}", sim.pictures_url(), "0".repeat(32));
    assert_eq!(get(&sim, &stranger).await.unwrap().status, 404);
    let counts = sim.counts();
    let answers = [(path(&plain[0]), 2), (path(&plain[1]), 1), (path(&redirected[0]), 1)];
    assert_eq!(counts.picture_answers, BTreeMap::from(answers));
    assert_eq!((counts.pictures_served, counts.other, counts.answered), (4, 1, 0));
    assert_eq!(counts.requests, counts.pictures + 1);
}

#[test]
fn only_addresses_of_this_world_have_a_picture() {
    let sim = start();
    let known = products(&sim).swap_remove(0);
    for url in [format!("{known}0"), format!("{known}/1"), known.to_uppercase(), known.replace("http://", "https://")] {
        assert_eq!((sim.picture(&url), sim.picture_kind(&url)), (None, None), "{url}");
    }
}

#[tokio::test]
async fn held_pictures_are_answered_once_they_are_released() {
    let sim = start();
    let url = of_kind(&sim, PictureKind::Plain).swap_remove(0);
    sim.hold_pictures(true);
    let released = async {
        sim.until(PATIENCE, |counts| counts.pictures == 1 && counts.in_flight == 1).await.unwrap();
        assert_eq!(sim.counts().pictures_served, 0);
        sim.hold_pictures(false);
    };
    let (answer, ()) = tokio::join!(get(&sim, &url), released);
    assert_eq!(answer.unwrap().body, photo(&sim, &url).bytes);
}

#[tokio::test]
async fn no_picture_is_held_longer_than_a_client_may_take() {
    let sim = Simulator::start(Settings { client_timeout: Duration::from_millis(50), ..large() }).unwrap();
    sim.hold_pictures(true);
    let url = of_kind(&sim, PictureKind::Plain).swap_remove(0);
    assert_eq!(get(&sim, &url).await.unwrap().status, 200);
}

#[tokio::test]
async fn pictures_take_the_latency_that_is_set() {
    let sim = start();
    let url = of_kind(&sim, PictureKind::Plain).swap_remove(0);
    sim.set_picture_latency(Duration::from_millis(60));
    let started = std::time::Instant::now();
    get(&sim, &url).await.unwrap();
    assert!(started.elapsed() >= Duration::from_millis(60));
}

#[tokio::test]
async fn the_proxies_that_the_api_refuses_reach_pictures() {
    let settings = Settings { blocked_proxies: 1, block_after: 0, plain_proxies: true, ..large() };
    let sim = Simulator::start(settings).unwrap();
    let url = of_kind(&sim, PictureKind::Plain).swap_remove(0);
    let host = sim.base_url().trim_start_matches("http://");
    let request = Request::get(&url).header("host", host).body(Full::default()).unwrap();
    let answer = send(&sim, &Way::Through(sim.proxies().swap_remove(0)), request).await.unwrap();
    assert_eq!(answer.body, photo(&sim, &url).bytes);
    assert_eq!(sim.counts().direct, 0);
}

#[tokio::test]
async fn over_http_2_good_files_come_whole_and_a_broken_body_is_an_error() {
    let (server, certificate) = certified();
    let sim = Simulator::start(Settings { tls: Some(server), ..large() }).unwrap();
    let mut sender = http2(&sim, certificate).await.unwrap();
    let mut body = async |kind| -> Result<Bytes> {
        let url = of_kind(&sim, kind).into_iter().next().context("no such picture")?;
        let response = sender.send_request(Request::get(&url).body(Full::default())?).await?;
        ensure!(response.version() == http::Version::HTTP_2);
        Ok(response.into_body().collect().await?.to_bytes())
    };
    let plain = of_kind(&sim, PictureKind::Plain).swap_remove(0);
    assert_eq!(body(PictureKind::Plain).await.unwrap(), photo(&sim, &plain).bytes);
    assert!(body(PictureKind::BrokenOff).await.is_err());
    assert!(body(PictureKind::LargeBody).await.unwrap().len() > MAX_BODY);
    assert!(body(PictureKind::Slow).await.is_ok());
}
