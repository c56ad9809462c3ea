//! Answers and events that come late: the page has changed, or was not seen.

use serde_json::json;
use xtask::browser::Key;

use super::world::{World, in_dialog, is_live};

/// Answers to `PUT` wait until `letGo()`.
const HOLD_CHANGES: &str = "const send = window.fetch;
    window.fetch = (...asked) => asked[1]?.method !== 'PUT' ? send(...asked)
      : new Promise((answer) => { window.letGo = () => answer(send(...asked)); });";

/// The search of stores is never answered; it ends where it is aborted.
const HOLD_SEARCHES: &str = "const send = window.fetch;
    window.fetch = (...asked) => !/stores.*q=/.test(asked[0]) ? send(...asked)
      : new Promise((_, refuse) => {
          window.isAsked = true;
          asked[1].signal.addEventListener('abort', () => refuse(asked[1].signal.reason));
        });";

/// The form of a schedule was closed while its change is sent, which waits for `letGo()`.
async fn closed_while_it_sends(interval: &str) -> World {
    let world = World::start().await;
    world.open("/admin/schedules").await;
    world.browser.run(HOLD_CHANGES, Vec::new()).await.unwrap();
    world.press("Edit… payload_fetch_all").await;
    world.browser.fill("dialog [name=interval_hours]", interval).await.unwrap();
    // what is wrong is for the server to say
    world.browser.run("document.querySelector('dialog form').noValidate = true", Vec::new()).await.unwrap();
    world.click(&in_dialog("Save")).await;
    world.browser.until("it is sent", "!!window.letGo").await.unwrap();
    world.browser.key(Key::Escape).await.unwrap();
    world
}

#[tokio::test]
async fn the_answer_of_a_closed_form_leaves_another_form_open() {
    let world = closed_while_it_sends("8").await;
    world.press("Edit… analytics_refresh").await;
    world.browser.fill("dialog [name=interval_hours]", "7").await.unwrap();
    world.browser.run("letGo()", Vec::new()).await.unwrap();
    world.reports("payload_fetch_all").await;
    let typed =
        world.browser.read("document.querySelector('dialog[open] [name=interval_hours]')?.value").await.unwrap();
    assert_eq!(typed, "7");
}

#[tokio::test]
async fn the_refusal_of_a_closed_form_is_a_message() {
    let world = closed_while_it_sends("-1").await;
    world.browser.run("letGo()", Vec::new()).await.unwrap();
    world.reports("interval_hours").await;
}

#[tokio::test]
async fn a_search_that_was_ended_shows_nothing() {
    let world = World::start().await;
    world.open("/admin").await;
    world.browser.run(HOLD_SEARCHES, Vec::new()).await.unwrap();
    world.browser.keys("/").await.unwrap();
    world.browser.keys("failed").await.unwrap();
    world.browser.until("the server is asked", "!!window.isAsked").await.unwrap();
    world.browser.key(Key::Escape).await.unwrap();
    // two frames: whatever the search leads to is drawn by then
    let found = "await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
        return document.querySelectorAll('#found [role=option]').length";
    assert_eq!(world.browser.run(found, Vec::new()).await.unwrap(), 0);
}

#[tokio::test]
async fn a_table_under_the_pointer_shows_others_once_all_its_rows_are_gone() {
    let world = World::start().await;
    world.open("/admin/tasks?status=failed").await;
    world.sees("the menu came back empty").await;
    is_live(&world.browser).await;
    let rests = "document.querySelector('main table').parentElement.dispatchEvent(new PointerEvent('pointerenter'))";
    world.browser.run(rests, Vec::new()).await.unwrap();
    world
        .execute(
            "DELETE FROM task_attempts; DELETE FROM worker_tasks WHERE status = 'failed';
             INSERT INTO worker_tasks (id, role, status, error_message, completed_at)
             VALUES (806, 'analytics_refresh', 'failed', 'a newer failure', now());",
        )
        .await;
    world.sees("a newer failure").await;
    world.assert_no_errors().await;
}

#[tokio::test]
async fn a_page_that_was_opened_in_the_background_is_current_once_it_is_seen() {
    let world = World::start().await;
    let hidden = "Object.defineProperty(document, 'hidden', { get: () => !window.isSeen })";
    let script = json!({"source": hidden});
    let held = world.browser.devtools("Page.addScriptToEvaluateOnNewDocument", script).await.unwrap();
    world.open("/admin/schedules").await;
    world.browser.devtools("Page.removeScriptToEvaluateOnNewDocument", held).await.unwrap();
    world.sees("payload_fetch_all").await;
    world.execute("UPDATE task_schedules SET interval_hours = 11 WHERE name = 'payload_fetch_all'").await;
    let seen = "window.isSeen = true; document.dispatchEvent(new Event('visibilitychange'))";
    world.browser.run(seen, Vec::new()).await.unwrap();
    world.sees("11 h").await;
}
