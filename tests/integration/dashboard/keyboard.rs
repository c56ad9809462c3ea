//! Everything by keyboard.

use xtask::browser::Key;

use super::world::World;

const DIALOG: &str = "document.querySelector('dialog[open]')?.innerText ?? ''";

#[tokio::test]
async fn keys_are_listed_and_lead_to_pages_and_rows() {
    let world = World::start().await;
    world.open("/admin").await;
    world.browser.keys("?").await.unwrap();
    world.browser.until("the keys are listed", &format!("{DIALOG}.includes('search')")).await.unwrap();
    world.browser.key(Key::Escape).await.unwrap();
    world.browser.until("they are closed", &format!("{DIALOG} === ''")).await.unwrap();

    world.browser.keys("gt").await.unwrap();
    world.browser.until("the tasks", "location.pathname === '/admin/tasks'").await.unwrap();
    world.browser.ready().await.unwrap();
    world.sees("refused the request").await;
    let focused = "document.activeElement?.closest('tr[data-row]')?.rowIndex ?? 0";
    world.browser.keys("j").await.unwrap();
    world.browser.until("the first row has the focus", &format!("({focused}) === 1")).await.unwrap();
    world.browser.keys("j").await.unwrap();
    world.browser.until("the second row has it", &format!("({focused}) === 2")).await.unwrap();
    world.browser.keys("k").await.unwrap();
    world.browser.keys("x").await.unwrap();
    world.sees("1 selected").await;
    world.browser.key(Key::Enter).await.unwrap();
    world.browser.until("the task is opened", r"/^\/admin\/tasks\/\d+$/.test(location.pathname)").await.unwrap();

    world.browser.ready().await.unwrap();
    world.browser.keys("/").await.unwrap();
    world.browser.keys("801").await.unwrap();
    world.browser.until("it is found", "document.querySelectorAll('#found [role=option]').length > 0").await.unwrap();
    world.browser.key(Key::Enter).await.unwrap();
    world.browser.until("the task that was searched", "location.pathname === '/admin/tasks/801'").await.unwrap();
    world.assert_no_errors().await;
}

#[tokio::test]
async fn the_search_finds_pages_and_states() {
    let world = World::start().await;
    world.open("/admin/job-queue").await;
    let first = "document.querySelector('#found [role=option]')?.innerText.replace(/\\s+/g, ' ').trim() ?? ''";
    for (typed, found, address) in [
        ("failed", "failed tasks state", "/admin/tasks?status=failed"),
        ("capa", "Capacity page", "/admin/capacity"),
        ("empty", "empty menu stores state", "/admin/stores?crawl_status=empty_menu"),
    ] {
        world.browser.keys("/").await.unwrap();
        world.browser.keys(typed).await.unwrap();
        world.browser.until(&format!("{found} is first"), &format!("{first} === '{found}'")).await.unwrap();
        world.browser.key(Key::Enter).await.unwrap();
        let there = format!("location.pathname + location.search === '{address}'");
        world.browser.until(&format!("{typed} leads to {address}"), &there).await.unwrap();
        world.browser.ready().await.unwrap();
        // a page with a filter of its own has this key for it
        world.open("/admin/job-queue").await;
    }
    for (keys, page) in [("gy", "/admin/capacity"), ("ge", "/admin/settings")] {
        world.browser.keys(keys).await.unwrap();
        world.browser.until(page, &format!("location.pathname === '{page}'")).await.unwrap();
    }
}

#[tokio::test]
async fn the_key_of_a_filter_stands_at_it_and_its_suggestions_keep_clear_of_faults() {
    let world = World::start().await;
    let marked = "[...document.querySelectorAll('form kbd')].filter((each) => each.offsetParent && each.innerText === '/').map((each) => each.parentElement.className).join()";
    for (page, form) in [("/admin/tasks", "query"), ("/admin/workers", "find")] {
        world.open(page).await;
        world.browser.until(&format!("the mark on {page}"), &format!("({marked}) === '{form}'")).await.unwrap();
    }
    world.open("/admin/tasks").await;
    world.browser.keys("/").await.unwrap();
    let box_of = "document.querySelector('#suggestions').getBoundingClientRect()";
    let inside = format!(
        "[...document.querySelectorAll('#suggestions span')].every((each) => each.getBoundingClientRect().right <= {box_of}.right && each.innerText)"
    );
    let shown = "document.querySelectorAll('#suggestions li').length > 5";
    world.browser.until("the help of each word is in the box", &format!("{shown} && {inside}")).await.unwrap();
    world.browser.keys("status:failed bogus:3").await.unwrap();
    world.browser.key(Key::Enter).await.unwrap();
    world.sees("bogus:3 is not understood").await;
    assert_eq!(world.browser.read(&format!("{box_of}.height")).await.unwrap(), 0);
    world.browser.keys(" nonsense").await.unwrap();
    assert_eq!(world.browser.read(&format!("{box_of}.height")).await.unwrap(), 0, "there is nothing to suggest");
}

/// The path that the link with the focus leads to.
const FOCUSED: &str = "(document.activeElement?.getAttribute('href') ?? document.activeElement?.id ?? '')";

#[tokio::test]
async fn back_in_a_list_the_focus_is_on_the_row_that_was_opened() {
    let world = World::start().await;
    world.open("/admin/tasks").await;
    world.sees("refused the request").await;
    for _ in 0..3 {
        world.browser.keys("j").await.unwrap();
    }
    let row = world.browser.read(FOCUSED).await.unwrap();
    let row = row.as_str().unwrap().to_owned();
    world.browser.key(Key::Enter).await.unwrap();
    world.browser.until("the task is opened", &format!("location.pathname === '{row}'")).await.unwrap();
    world.browser.until("its page begins at its top", &format!("{FOCUSED} === 'main'")).await.unwrap();
    world.browser.run("history.back()", Vec::new()).await.unwrap();
    world.browser.until("the row has the focus", &format!("{FOCUSED} === '{row}'")).await.unwrap();
    world.browser.run("history.forward()", Vec::new()).await.unwrap();
    world.browser.until("its page begins at its top again", &format!("{FOCUSED} === 'main'")).await.unwrap();
    world.assert_no_errors().await;
}
