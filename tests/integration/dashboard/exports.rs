//! The menus by which rows of a page are exported as files.

use serde_json::{Value, json};
use xtask::browser::Key;
use xtask::look::Look;

use super::every_page::{axe, violations};
use super::world::World;

/// The addresses in the open menu, without the path of the server.
const FILES: &str =
    "[...document.querySelectorAll('[role=menu] a[download]')].map((file) => file.getAttribute('href'))";

/// The status and length in lines of each file of the open menu, which the page fetches with its session.
const FETCHED: &str = "const found = [];
    for (const file of document.querySelectorAll('[role=menu] a[download]')) {
      const answer = await fetch(file.href);
      const text = await answer.text();
      found.push([answer.status, answer.headers.get('content-disposition'), file.href.includes('parquet') ? text.slice(0, 4) : text.trim().split('\\n').length]);
    }
    return found;";

fn focused(text: &str) -> String {
    format!("document.activeElement.innerText.trim() === '{text}'")
}

impl World {
    pub(super) async fn files(&self) -> Value {
        self.browser.until("the menu is open", &format!("{FILES}.length > 0")).await.unwrap();
        self.browser.read(FILES).await.unwrap()
    }

    async fn number_of(&self, css: &str) -> Value {
        self.browser.read(&format!("document.querySelectorAll('{css}').length")).await.unwrap()
    }

    pub(super) async fn fetched(&self) -> Value {
        self.browser.run(FETCHED, Vec::new()).await.unwrap()
    }
}

/// The files of a dataset, each with this number of rows.
pub(super) fn whole(dataset: &str, rows: usize) -> Vec<Value> {
    let named = |format: &str| format!("attachment; filename=\"{dataset}.{format}\"");
    vec![
        json!([200, named("csv"), rows + 1]),
        json!([200, named("jsonl"), rows]),
        json!([200, named("parquet"), "PAR1"]),
    ]
}

#[tokio::test]
async fn products_are_exported_as_the_filters_show_them_by_keyboard() {
    let world = World::start().await;
    world.execute("UPDATE dispensaries SET last_payload_id = 1").await;
    db::products::search::copy_names(&world.server.database.db, testkit::PATIENCE).await.unwrap();
    world.open("/admin/products").await;
    world.sees("Type words of a name or brand").await;
    assert_eq!(world.number_of("main button[aria-haspopup=menu]").await, 0, "there is no list yet");
    world.open("/admin/products?q=blue&brand=quiet&in_stock=true&max_price=9000&store=902&state=CO&sort=price").await;
    world.sees("1 product in all").await;
    world.browser.run("document.querySelector('main button[aria-haspopup=menu]').focus()", Vec::new()).await.unwrap();
    world.browser.key(Key::Down).await.unwrap();
    world.browser.until("the first file has the focus", &focused("CSV")).await.unwrap();
    world.browser.key(Key::Down).await.unwrap();
    world.browser.until("the next one has it", &focused("JSON lines")).await.unwrap();
    let query = "q=blue&brand=quiet&in_stock=true&max_price=9000&state=CO&store=902";
    let files = world.files().await;
    let parsed = |file: &Value| {
        let (path, query) = file.as_str().unwrap().split_once('?').unwrap();
        let mut query: Vec<String> = query.split('&').map(str::to_owned).collect();
        query.sort();
        (path.to_owned(), query)
    };
    for (file, format) in files.as_array().unwrap().iter().zip(["csv", "jsonl", "parquet"]) {
        assert_eq!(parsed(file), parsed(&json!(format!("/api/export/products?{query}&format={format}"))));
    }
    assert_eq!(world.fetched().await, json!(whole("products", 1)));
    world.browser.key(Key::Escape).await.unwrap();
    world.browser.until("the menu is closed, and its button has the focus", &focused("Export")).await.unwrap();
    world.assert_no_errors().await;
}

#[tokio::test]
async fn changes_are_exported_as_the_filters_show_them() {
    let world = World::start().await.with_changes().await;
    world.open("/admin/changes?kind=price_drop,price_rise&state=CO&from=2020-01-01").await;
    world.sees("3 changes on this page").await;
    world.press("Export").await;
    world.files().await;
    assert_eq!(world.fetched().await, json!(whole("changes", 3)));
    world.assert_no_errors().await;
}

#[tokio::test]
async fn the_products_options_and_history_of_a_store_are_exported_on_a_phone() {
    let world = World::start().await;
    world.browser.look(Look::phone(true)).await.unwrap();
    world.open("/admin/stores/902").await;
    world.sees("Blue Ledger").await;
    world.press("Export").await;
    assert_eq!(world.files().await.as_array().unwrap().len(), 9);
    let expected = [whole("products", 1), whole("options", 2), whole("option_history", 0)].concat();
    // a file of lines without any is one empty line
    let fetched = world.fetched().await;
    assert_eq!(fetched.as_array().unwrap()[..7], expected[..7]);
    let inside = "[...document.querySelectorAll('[role=menu] a')].every((file) => {
        const box = file.getBoundingClientRect();
        return box.left >= 0 && box.right <= innerWidth && box.height >= 44 && file.innerText; })";
    assert_eq!(world.browser.read(inside).await.unwrap(), true, "the menu is beside the page, or too small");
    assert_eq!(world.browser.read("document.documentElement.scrollWidth <= innerWidth").await.unwrap(), true);
    assert_eq!(violations(&world, &axe()).await, Vec::<String>::new());
    world.assert_no_errors().await;
}
