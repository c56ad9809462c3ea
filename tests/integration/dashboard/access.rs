//! Access to the dashboard by role: who sees it, and which actions are allowed.

use super::world::{World, is_live};
use crate::api::server::Server;

async fn log_in(world: &World, token: &str) {
    world.browser.fill("#token", token).await.unwrap();
    world.press("Log in").await;
}

#[tokio::test]
async fn a_token_opens_the_page_that_was_asked_for() {
    let world = World::start().await;
    let token = world.server.token("viewer").await;
    world.browser.open(&world.url("/admin/tasks?status=failed")).await.unwrap();
    world.browser.until("it asks for a token", "location.pathname === '/login'").await.unwrap();
    log_in(&world, "drv_wrong").await;
    world.sees("unknown or revoked").await;
    log_in(&world, &token).await;
    world.browser.until("the page", "location.pathname === '/admin/tasks'").await.unwrap();
    world.sees("refused the request").await;
    assert_eq!(world.browser.location().await.unwrap(), "/admin/tasks?status=failed");

    world.press("Log out").await;
    world.browser.until("it is logged out", "location.pathname === '/login'").await.unwrap();
    world.browser.goto(&world.url("/admin")).await.unwrap();
    world.browser.until("it asks again", "location.pathname === '/login'").await.unwrap();
}

#[tokio::test]
async fn a_viewer_sees_no_action_and_an_operator_does() {
    let world = World::start().await;
    let (viewer, operator) = (world.server.token("viewer").await, world.server.token("operator").await);
    for (token, may) in [(viewer, false), (operator, true)] {
        world.browser.open(&world.url("/login?next=/admin/tasks/801")).await.unwrap();
        log_in(&world, &token).await;
        world.sees("refused the request").await;
        world.browser.until("the page is ready", "document.documentElement.dataset.ready === '1'").await.unwrap();
        let shown = world
            .browser
            .read("[...document.querySelectorAll('main button')].some((button) => /Retry/.test(button.textContent))");
        assert_eq!(shown.await.unwrap(), may);
        let settings =
            world.browser.read("[...document.querySelectorAll('.nav a')].some((a) => a.textContent === 'Settings')");
        assert_eq!(settings.await.unwrap(), false, "these are for an admin");
        world.browser.run("await fetch('/api/session', { method: 'DELETE', headers: { 'x-csrf-token': (await (await fetch('/api/session')).json()).csrf_token } })", Vec::new()).await.unwrap();
    }
}

#[tokio::test]
async fn below_a_path_pages_links_and_logins_work() {
    let server = Server::with(|config| config.base_path = "/ops/drover".to_owned()).await;
    let world = World::on(server).await;
    let token = world.server.token("admin").await;
    world.browser.goto(&world.url("/")).await.unwrap();
    world.browser.until("it asks for a token", "location.pathname === '/ops/drover/login'").await.unwrap();
    log_in(&world, &token).await;
    world.browser.until("the overview", "location.pathname === '/ops/drover/admin'").await.unwrap();
    world.browser.ready().await.unwrap();
    world.click("//nav//a[starts-with(., 'Workers')]").await;
    world.browser.until("the workers", "location.pathname === '/ops/drover/admin/workers'").await.unwrap();
    world.sees("Kryll-2").await;
    is_live(&world.browser).await;
}
