//! The pages of media: records of each kind, items, and notifications.

use serde_json::json;
use xtask::look::Look;

use super::every_page::{axe, violations};
use super::world::{World, in_dialog, is_live};
use crate::api::server::Server;
use crate::media::harness::KEY;
use testkit::{PATIENCE, until};

const CHANNEL: &str = "UCzyxwvutsrqponmlkjihgfe";
const CANARY: &str = "canary-of-a-secret";
const KINDS: [(&str, &str); 9] = [
    ("accounts", "ann"),
    ("channels", "UCabcdefghijklmnopqrstuv"),
    ("searches", "linux iso"),
    ("people", "Ann Example"),
    ("forums", "https://talk.example"),
    ("threads", "98765"),
    ("credentials", "renew the cookies"),
    ("endpoints", "the endpoint answered 410"),
    ("rules", "completed or failed"),
];
/// All that a reader or a script of the page could find in it.
const WHOLE_PAGE: &str = "document.documentElement.outerHTML + [...document.querySelectorAll('input, textarea')].map(({ value }) => value).join(' ')";

impl World {
    /// Waits until the field of the open form has an error with this text.
    async fn field_says(&self, field: &str, text: &str) {
        let note = format!("document.getElementById('field-{field}-note')?.innerText.includes({})", json!(text));
        let is_invalid = format!("document.getElementById('field-{field}')?.ariaInvalid === 'true'");
        self.browser.until(&format!("{field} says {text:?}"), &format!("{note} && {is_invalid}")).await.unwrap();
    }
}

#[tokio::test]
async fn every_kind_of_record_fits_and_is_accessible_with_its_form() {
    let world = World::start().await.with_media().await;
    let (axe, mut wrong) = (axe(), Vec::new());
    for (kind, text) in KINDS {
        world.browser.look(Look::desk(false)).await.unwrap();
        world.open(&format!("/admin/media?kind={kind}")).await;
        world.sees(text).await;
        for is_form in [false, true] {
            if is_form {
                world.click("(//main//tbody//button[contains(., 'Edit')])[1]").await;
                world.browser.until("the form", "!!document.querySelector('dialog[open] form')").await.unwrap();
            }
            for look in [Look::desk(false), Look::phone(true)] {
                world.browser.look(look).await.unwrap();
                let width = world.browser.read("document.documentElement.scrollWidth").await.unwrap();
                if width.as_u64() > Some(u64::from(look.width)) {
                    wrong.push(format!("{kind} at {}: {width} px wide", look.name()));
                }
                let found = violations(&world, &axe).await;
                wrong.extend(found.into_iter().map(|fault| format!("{kind} at {}: {fault}", look.name())));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    world.assert_no_errors().await;
}

#[tokio::test]
async fn a_channel_is_added_by_the_form_and_a_wrong_id_is_named_at_its_field() {
    let world = World::start().await.with_media().await;
    world.open("/admin/media").await;
    world.click("//main//nav//a[. = 'Channels']").await;
    world.press("Add channel").await;
    world.browser.fill("dialog [name=channel_id]", "@someone").await.unwrap();
    world.click(&in_dialog("Add channel")).await;
    world.field_says("channel_id", "must be UC and 22 letters").await;
    world.browser.fill("dialog [name=channel_id]", CHANNEL).await.unwrap();
    world.click("//dialog[@open]//input[@name='download']").await;
    world.click(&in_dialog("Add channel")).await;
    world.reports(&format!("The channel {CHANNEL} is added")).await;
    world.sees(CHANNEL).await;
    let added =
        format!("SELECT count(*) FROM watched_channels WHERE channel_id = '{CHANNEL}' AND download AND enabled");
    assert_eq!(world.count(&added).await, 1);
}

#[tokio::test]
async fn a_change_sends_what_differs_and_an_empty_field_takes_a_value_away() {
    let world = World::start().await.with_media().await;
    world.open("/admin/media?kind=accounts").await;
    world.press("Edit… account ann").await;
    world.browser.fill("dialog [name=interval_hours]", "12").await.unwrap();
    world.browser.fill("dialog [name=url]", "").await.unwrap();
    world.click(&in_dialog("Save")).await;
    world.sees("12 h").await;
    let changed = "SELECT count(*) FROM audit_log WHERE action = 'media.update' AND detail = '{\"url\": null, \"interval_hours\": 12.0}'";
    assert_eq!(world.count(changed).await, 1);
    world.press("Disable account ann").await;
    world.press("Enable account ann").await;
    world.press("Disable account ann").await;
    world.press("Remove… account ann").await;
    world.click(&in_dialog("Remove 1 account")).await;
    world.reports("The account ann is removed").await;
    world.says_no_more("12 h").await;
    assert_eq!(world.count("SELECT count(*) FROM media_accounts WHERE username = 'ann'").await, 0);
    assert_eq!(world.count("SELECT count(*) FROM media_items WHERE source = 'mastodon'").await, 2, "its items stay");
    world.assert_no_errors().await;
}

#[tokio::test]
async fn selectors_that_are_no_json_or_no_css_are_named_at_their_field() {
    let world = World::start().await.with_media().await;
    world.open("/admin/media?kind=forums").await;
    world.press("Edit… forum A board").await;
    world.browser.fill("dialog [name=selectors]", "{ post }").await.unwrap();
    world.click(&in_dialog("Save")).await;
    world.field_says("selectors", "is not JSON").await;
    world.browser.fill("dialog [name=selectors]", r#"{"post": "li.reply"}"#).await.unwrap();
    world.click(&in_dialog("Save")).await;
    let kept = "SELECT count(*) FROM forums WHERE id = 1 AND selectors = '{\"post\": \"li.reply\"}'";
    until("they are kept", PATIENCE, async || world.count(kept).await == 1).await;
}

#[tokio::test]
async fn a_stored_secret_is_never_in_the_page() {
    let world = World::on(Server::with_key(KEY).await).await.with_media().await;
    world.open("/admin/media?kind=credentials").await;
    world.press("Add credential").await;
    world.browser.fill("dialog [name=name]", "films").await.unwrap();
    world.browser.fill("dialog [name=platform]", "tmdb").await.unwrap();
    world.click("//dialog[@open]//option[. = 'token']").await;
    world.click(&in_dialog("Add credential")).await;
    world
        .browser
        .until(
            "it needs a secret",
            "!!document.querySelector('dialog[open] [role=alert], dialog[open] [aria-invalid]')",
        )
        .await
        .unwrap();
    world.browser.fill("dialog [name=secret]", CANARY).await.unwrap();
    let is_hidden = "document.querySelector('dialog [name=secret]').type === 'password'";
    assert_eq!(world.browser.read(is_hidden).await.unwrap(), true);
    world.click(&in_dialog("Add credential")).await;
    world.reports("The credential films is added").await;
    world.press("Edit… credential films").await;
    world.browser.until("the form", "!!document.querySelector('dialog[open] [name=secret]')").await.unwrap();
    for page in ["/admin/media?kind=credentials", "/admin/audit"] {
        let whole = world.browser.read(WHOLE_PAGE).await.unwrap();
        assert!(!whole.as_str().unwrap().contains(CANARY), "{whole}");
        world.open(page).await;
        world.sees("films").await;
    }
    let sealed = "SELECT count(*) FROM credentials WHERE name = 'films' AND secret LIKE '$drover$1$%'";
    assert_eq!(world.count(sealed).await, 1);
}

#[tokio::test]
async fn a_file_of_cookies_is_kept_with_its_lines() {
    let world = World::on(Server::with_key(KEY).await).await.with_media().await;
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("cookies.txt");
    let cookies = "# Netscape HTTP Cookie File\n.forum.example\tTRUE\t/\tTRUE\t0\txf_user\tann\n";
    std::fs::write(&file, cookies).unwrap();
    world.open("/admin/media?kind=credentials").await;
    world.press("Add credential").await;
    world.browser.fill("dialog [name=name]", "small").await.unwrap();
    world.browser.fill("dialog [name=platform]", "small").await.unwrap();
    world.click("//dialog[@open]//option[. = 'cookies']").await;
    world.browser.fill("dialog [type=file]", file.to_str().unwrap()).await.unwrap();
    world.browser.fill("dialog [name=secret]", CANARY).await.unwrap();
    world.click(&in_dialog("Add credential")).await;
    world.field_says("file", "give either this or the secret").await;
    world.browser.fill("dialog [name=secret]", "").await.unwrap();
    world.click(&in_dialog("Add credential")).await;
    world.reports("The credential small is added").await;
    let keys = foundation::secrets::SecretKeys::parse(KEY, []).unwrap();
    let client = world.server.database.db.client().await.unwrap();
    let opened = db::access::credentials::open_of_platform(&client, "small", &keys).await.unwrap();
    assert_eq!(opened.secret, cookies);
}

#[tokio::test]
async fn a_viewer_sees_records_and_no_action() {
    let world = World::start().await.with_media().await;
    let viewer = world.server.token("viewer").await;
    world.browser.open(&world.url("/login?next=/admin/media")).await.unwrap();
    world.browser.fill("#token", &viewer).await.unwrap();
    world.press("Log in").await;
    world.browser.until("the page", "location.pathname === '/admin/media'").await.unwrap();
    for (page, text) in [("/admin/media", "by request"), ("/admin/notifications", "answered 500")] {
        world.open(page).await;
        world.sees(text).await;
        let actions = "document.querySelectorAll('main :is(.page-head, tbody) button').length";
        assert_eq!(world.browser.read(actions).await.unwrap(), 0, "{page}");
    }
}

#[tokio::test]
async fn items_are_filtered_and_no_address_of_a_stranger_is_a_script() {
    let world = World::start().await.with_media().await;
    world.open("/admin/items").await;
    world.sees("image/jpeg, 1,920 × 1,080").await;
    world.sees("482 kB").await;
    world.sees("12 m 34 s").await;
    world.sees("An address that is none").await;
    let links = "[...document.querySelectorAll('main a[href]')].every(({ protocol }) => /^https?:$/.test(protocol))";
    assert_eq!(world.browser.read(links).await.unwrap(), true);
    world.browser.fill("main [role=combobox]", "state:failed\u{e007}").await.unwrap();
    world.says_no_more("A walk at dusk").await;
    world.sees("members.easynews.com answered 503 (3 attempts)").await;
    world.open("/admin/items?source=youtube").await;
    world.sees("2 items on this page").await;
    world.assert_no_errors().await;
}

/// An image is loaded by its size in the file.
#[tokio::test]
async fn an_item_shows_its_picture_and_a_click_opens_the_larger_one() {
    let world = World::start().await.with_media().await;
    let preview = "document.querySelector('main tr img[alt=\"Picture: A walk at dusk\"]')";
    for look in [Look::desk(false), Look::phone(true)] {
        world.browser.look(look).await.unwrap();
        world.open("/admin/items?account=1").await;
        world.sees("A walk at dusk").await;
        world.browser.until("the preview", &format!("{preview}?.naturalWidth > 0")).await.unwrap();
        let is_small = format!("{preview}.loading === 'lazy' && {preview}.getBoundingClientRect().width <= 48");
        assert_eq!(world.browser.read(&is_small).await.unwrap(), true, "{}", look.name());
        world.sees("2 items on this page").await;
    }
    assert_eq!(world.browser.read("document.querySelectorAll('main tr img').length").await.unwrap(), 1);
    let larger = world.browser.read(&format!("{preview}.closest('a').href")).await.unwrap();
    world.browser.look(Look::desk(false)).await.unwrap();
    world.open("/admin/media").await;
    world.click("(//main//a[. = 'its items'])[2]").await;
    world.sees("No item matches").await;
    world.assert_no_errors().await;
    world.browser.goto(larger.as_str().unwrap()).await.unwrap();
    world.browser.until("the picture", "document.images[0]?.naturalWidth === 60").await.unwrap();
}

#[tokio::test]
async fn a_notification_is_sent_again_and_an_endpoint_is_tested() {
    let world = World::start().await.with_media().await;
    world
        .execute(
            r#"UPDATE notifications SET recipients = '{"ann@c.example": {"state": "delivered", "status": 250, "text": "ok"},
                "bea@c.example": {"state": "refused", "status": 550, "text": "no such user"}}' WHERE id = 1"#,
        )
        .await;
    world.open("/admin/notifications?state=failed").await;
    world.sees("ann@c.example: has it, 250").await;
    world.sees("bea@c.example: refused it for good, 550 no such user").await;
    world.sees("https://example.org/hooks/drover answered 500").await;
    world.press("Resend notification 1").await;
    world.reports("Notification 1 is sent to operations again").await;
    world.sees("No notification matches").await;
    assert_eq!(
        world.count("SELECT count(*) FROM notifications WHERE id = 1 AND state = 'pending' AND attempts = 0").await,
        1
    );

    world.open("/admin/notifications").await;
    world.press("Resend notification 3").await;
    world.reports("endpoint 2 is disabled (the endpoint answered 410)").await;
    world.press("Test an endpoint").await;
    world.click(&in_dialog("Send a test")).await;
    world.reports("A test of operations is sent").await;
    world.sees("4 notifications on this page").await;
    assert_eq!(world.count("SELECT count(*) FROM notifications WHERE event = 'test' AND endpoint_id = 1").await, 1);
}

#[tokio::test]
async fn the_progress_of_a_job_is_followed() {
    let world = World::start().await.with_media().await;
    let job = "INSERT INTO worker_tasks (id, role, status, platform, account, worker_id, started_at, last_heartbeat_at, lease_expires_at, progress_message)
               VALUES (821, 'scrape_account', 'running', 'mastodon', 'cay', 'w', now(), now(), now() + interval '1 hour', '7 files')";
    world.execute(job).await;
    world.open("/admin/jobs").await;
    world.sees("7 files").await;
    // two directions of priority, each named where it is read
    world.sees("Priority, 1 first").await;
    is_live(&world.browser).await;
    world.execute("UPDATE worker_tasks SET progress_message = '8 files', updated_at = now() WHERE id = 821").await;
    world.sees("8 files").await;
    world.open("/admin/tasks/821").await;
    world.sees("higher is claimed first; a media job shows 10 minus this, where 1 is first").await;
    world.assert_no_errors().await;
}

#[tokio::test]
async fn a_job_leads_to_the_jobs_that_it_made() {
    let world = World::start().await.with_media().await;
    let jobs = "INSERT INTO worker_tasks (id, role, status, platform, account, parent_task_id, completed_at) VALUES
                  (811, 'scrape_account', 'completed', 'mastodon', 'ann', NULL, now()), (812, 'download_media', 'completed', 'mastodon', 'ann', 811, now()),
                  (813, 'scrape_account', 'completed', 'mastodon', 'bea', NULL, now())";
    world.execute(jobs).await;
    world.open("/admin/jobs").await;
    world.sees("bea").await;
    let links = "[...document.querySelectorAll('main a')].filter(({ textContent }) => textContent.startsWith('its jobs')).length";
    assert_eq!(world.browser.read(links).await.unwrap(), 1);
    world.click("//main//a[starts-with(., 'its jobs')]").await;
    world.says_no_more("bea").await;
    world.sees("download_media").await;
    assert_eq!(world.browser.location().await.unwrap(), "/admin/jobs?parent=811");
    world.click("//main//a[. = '811']").await;
    world.sees("Chain").await;
}
