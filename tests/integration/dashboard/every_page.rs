//! What holds for every page: it opens, the console is silent, nothing is too wide, and people who cannot see it can use it.

use serde_json::{Value, json};
use xtask::look::Look;

use super::world::World;

const PAGES: [&str; 19] = [
    "/login",
    "/admin",
    "/admin/job-queue",
    "/admin/tasks",
    "/admin/tasks/801",
    "/admin/workers",
    "/admin/schedules",
    "/admin/stores",
    "/admin/stores/901",
    "/admin/products?q=blue",
    "/admin/products/701",
    "/admin/payloads",
    "/admin/payloads/diff?store=STORE",
    "/admin/proxies",
    "/admin/hosts",
    "/admin/jobs",
    "/admin/capacity",
    "/admin/audit",
    "/admin/settings",
];
/// The document, scripts and styles of the overview, as they are before any compression.
const FIRST_LOAD: u64 = 120_000;

/// What axe-core finds wrong.
async fn violations(world: &World, axe: &str) -> Vec<String> {
    world.browser.read(&format!("(() => {{ {axe} }})(), true")).await.unwrap();
    let run = "const found = (await axe.run()).violations;
               return found.map(({id, nodes}) => `${id}: ${nodes.map(({html}) => html.slice(0, 200)).join(' | ')}`)";
    let found = world.browser.run(run, Vec::new()).await.unwrap();
    found.as_array().unwrap().iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn axe() -> String {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/ui/node_modules/axe-core/axe.min.js");
    std::fs::read_to_string(file).expect("axe-core is not installed: `./dev test` does it, or npm ci --prefix ui")
}

#[tokio::test]
async fn every_page_opens_fits_and_is_accessible_by_day_and_night_at_both_widths() {
    let (world, store) = World::start().await.with_payloads().await;
    let axe = axe();
    let mut wrong = Vec::new();
    for path in PAGES.map(|path| path.replace("STORE", &store.to_string())) {
        world.browser.look(Look::desk(false)).await.unwrap();
        world.open(&path).await;
        for look in Look::ALL {
            world.browser.look(look).await.unwrap();
            let width = world.browser.read("document.documentElement.scrollWidth").await.unwrap();
            if width.as_u64() > Some(u64::from(look.width)) {
                wrong.push(format!("{path} at {}: {width} px wide", look.name()));
            }
            let found = violations(&world, &axe).await;
            wrong.extend(found.into_iter().map(|fault| format!("{path} at {}: {fault}", look.name())));
        }
        let log = world.browser.log().await.unwrap();
        wrong.extend(log.into_iter().map(|line| format!("{path} says: {line}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[tokio::test]
async fn the_first_load_is_small() {
    let world = World::start().await;
    world.open("/admin").await;
    let sizes = "performance.getEntriesByType('navigation').concat(performance.getEntriesByType('resource'))
                 .filter(({name}) => name.includes('/ui/') || name.endsWith('/admin')).map(({name, decodedBodySize}) => [name, decodedBodySize])";
    let sizes = world.browser.read(sizes).await.unwrap();
    let total: u64 = sizes.as_array().unwrap().iter().filter_map(|entry| entry[1].as_u64()).sum();
    assert!((10_000..=FIRST_LOAD).contains(&total), "{total} bytes: {sizes:#}");
}

#[tokio::test]
async fn a_page_that_is_not_there_says_so() {
    let world = World::start().await;
    world.open("/admin/nothing").await;
    world.sees("There is no such page").await;
    world.open("/admin/tasks/424242").await;
    world.sees("404").await;
    let log = world.browser.log().await.unwrap();
    assert!(log.iter().all(|line| line.contains("404")), "{log:?}");
    assert_eq!(world.browser.read("document.title").await.unwrap(), json!("Task 424,242 · drover"));
}
