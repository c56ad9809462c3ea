//! Checks of every page: it opens, the console is silent, nothing is too wide, and people who cannot see it
//! can use it.

use serde_json::{Value, json};
use xtask::look::Look;
use xtask::pages::pages;

use super::world::World;

/// Ids in the world of these tests.
const IDS: [(&str, &str); 3] = [("task", "801"), ("store", "901"), ("product", "701")];
/// The document, scripts and styles of the overview, as they are before any compression.
const FIRST_LOAD: u64 = 120_000;

/// Faults that axe-core finds.
pub async fn violations(world: &World, axe: &str) -> Vec<String> {
    // half a megabyte, once for each document
    if world.browser.read("!window.axe").await.unwrap() == true {
        world.browser.read(&format!("(() => {{ {axe} }})(), true")).await.unwrap();
    }
    let run = "const found = (await axe.run()).violations;
               return found.map(({id, nodes}) => `${id}: ${nodes.map(({html}) => html.slice(0, 200)).join(' | ')}`)";
    let found = world.browser.run(run, Vec::new()).await.unwrap();
    found.as_array().unwrap().iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

pub fn axe() -> String {
    let file = testkit::root().join("ui/node_modules/axe-core/axe.min.js");
    std::fs::read_to_string(file).expect("axe-core is not installed: `./dev test` does it, or npm ci --prefix ui")
}

/// Both colour schemes and both widths, at half the cost of all four looks.
const WITH_AXE: [Look; 2] = [Look::desk(false), Look::phone(true)];

/// Pages that people read on a phone.
const ON_A_PHONE: [&str; 5] = ["overview", "products", "product", "stores", "store"];

/// Targets that a finger would miss: 19 px from the middle of a link, button or field there is neither itself nor another one.
const TOO_SMALL: &str = "[...document.querySelectorAll('main :is(a[href], button, select, summary, input), .topbar :is(a, button)')].filter((one) => {
      if (!one.checkVisibility() || one.closest('thead, .sr')) return false;
      one.scrollIntoView({ block: 'center' });
      const box = one.getClientRects()[0];
      const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
      const isHit = (x, y) => !!document.elementFromPoint(x, y)?.closest('a[href], button, select, summary, input, label');
      return ![[x, y - 19], [x, y + 19], [Math.max(x - 19, 1), y], [Math.min(x + 19, innerWidth - 1), y]].every(([x, y]) => isHit(x, y));
    }).map((one) => one.outerHTML.slice(0, 160))";

#[tokio::test]
async fn every_page_opens_fits_and_is_accessible_by_day_and_night_at_both_widths() {
    let (world, store) = World::start().await.with_media().await.with_payloads().await;
    let axe = axe();
    let mut wrong = Vec::new();
    for page in pages().unwrap() {
        let id = IDS.iter().find(|(name, _)| *name == page.name).map_or(store.to_string(), |(_, id)| (*id).to_owned());
        let path = page.address(&id);
        world.browser.look(Look::desk(false)).await.unwrap();
        world.open(&path).await;
        for look in Look::ALL {
            world.browser.look(look).await.unwrap();
            let width = world.browser.read("document.documentElement.scrollWidth").await.unwrap();
            if width.as_u64() > Some(u64::from(look.width)) {
                wrong.push(format!("{path} at {}: {width} px wide", look.name()));
            }
            if WITH_AXE.contains(&look) {
                let found = violations(&world, &axe).await;
                wrong.extend(found.into_iter().map(|fault| format!("{path} at {}: {fault}", look.name())));
            }
        }
        if ON_A_PHONE.contains(&page.name.as_str()) {
            let small = world.browser.read(TOO_SMALL).await.unwrap();
            let small = small.as_array().unwrap().iter().filter_map(Value::as_str);
            wrong.extend(small.map(|one| format!("{path} has too small a target for a finger: {one}")));
        }
        let log = world.browser.log().await.unwrap();
        wrong.extend(log.into_iter().map(|line| format!("{path} says: {line}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[tokio::test]
async fn a_phone_shows_the_secondary_parts_of_the_overview_closed_and_opens_them() {
    let world = World::start().await;
    let failed = "INSERT INTO product_image_failures (product_id, image_url, reason, tries, retry_at) VALUES (701, 'https://elsewhere.test/a.jpg', 'refused_host', 1, now())";
    world.execute(failed).await;
    world.open("/admin").await;
    world.sees("Is anything behind").await;
    world.browser.look(Look::phone(false)).await.unwrap();
    world.sees("1 image not stored").await;
    world.says_no_more("Is anything behind").await;
    world.click("//summary[contains(., 'Backlog of each role')]").await;
    world.sees("Is anything behind").await;
    assert_eq!(violations(&world, &axe()).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_payload_beside_itself_is_accessible_too() {
    let (world, store) = World::start().await.with_payloads().await;
    let payload = world.count(&format!("SELECT max(id) FROM raw_crawl_payloads WHERE dispensary_id = {store}")).await;
    world.open(&format!("/admin/payloads/diff?store={store}&from={payload}&to={payload}")).await;
    world.sees("These two are the same").await;
    assert_eq!(violations(&world, &axe()).await, Vec::<String>::new());
}

#[tokio::test]
async fn the_first_load_is_small() {
    let world = World::start().await;
    world.open("/admin").await;
    let loaded = "performance.getEntriesByType('resource').map(({name}) => name.split(/\\/ui\\/[0-9a-f]+\\//)[1]).filter(Boolean)";
    let loaded = world.browser.read(loaded).await.unwrap();
    let loaded: Vec<&str> = loaded.as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(loaded.contains(&"app.js") && loaded.contains(&"pages/overview.js"), "{loaded:?}");
    let total = minified_size(&loaded);
    assert!((10_000..=FIRST_LOAD).contains(&total), "{total} bytes: {loaded:#?}");
}

/// The size of the document and these files in a release build: this debug build serves them as they are in
/// the checkout.
fn minified_size(names: &[&str]) -> u64 {
    let (ui, dir) = (testkit::root().join("ui"), tempfile::tempdir().unwrap());
    let own: Vec<&str> = names.iter().copied().filter(|name| !name.starts_with("vendor/")).collect();
    for name in own.iter().chain(&["index.html"]) {
        let (text, file) = (std::fs::read_to_string(ui.join(name)).unwrap(), dir.path().join(name));
        let lines = text.lines().map(|line| if name.ends_with(".js") { line.trim_start() } else { line });
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, lines.map(|line| line.to_owned() + "\n").collect::<String>()).unwrap();
    }
    let mut esbuild = std::process::Command::new(ui.join("node_modules/.bin/esbuild"));
    esbuild.args([
        "--minify",
        "--charset=utf8",
        "--log-level=warning",
        "--allow-overwrite",
        "--outdir=.",
        "--outbase=.",
    ]);
    let minified = own.iter().filter(|name| name.ends_with(".js") || name.ends_with(".css"));
    assert!(esbuild.args(minified).current_dir(dir.path()).status().unwrap().success());
    let libraries = ["preact/dist/preact.mjs", "preact/hooks/dist/hooks.mjs", "htm/dist/htm.mjs"];
    let libraries = libraries.map(|name| ui.join("node_modules").join(name));
    let files = own.iter().chain(&["index.html"]).map(|name| dir.path().join(name)).chain(libraries);
    files.map(|file| file.metadata().unwrap().len()).sum()
}

#[tokio::test]
async fn a_page_that_is_not_there_says_so() {
    let world = World::start().await;
    world.open("/admin/nothing").await;
    world.sees("There is no such page").await;
    let live = "document.querySelector('.live').innerText.trim()";
    world.browser.until("it is connected", &format!("{live} === 'Live'")).await.unwrap();
    let focused = "document.activeElement === document.body";
    assert_eq!(world.browser.read(focused).await.unwrap(), true, "the first page takes no focus");
    world.open("/admin/tasks/424242").await;
    world.sees("404").await;
    let log = world.browser.log().await.unwrap();
    assert!(log.iter().all(|line| line.contains("404")), "{log:?}");
    assert_eq!(world.browser.read("document.title").await.unwrap(), json!("Task 424242 · drover"));
}
