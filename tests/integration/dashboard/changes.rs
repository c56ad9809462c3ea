//! The page of changes: the feed, its filters, and the rules that send changes to endpoints.

use serde_json::json;
use testkit::{PATIENCE, until};
use xtask::look::Look;

use super::every_page::{axe, violations};
use super::world::{World, in_dialog, is_live};

/// Two crawls of the store 902: one with a change of each kind, and an older one.
const CHANGES: &str = "
    INSERT INTO change_batches (crawl_id, dispensary_id, crawled_at, count, baseline)
    VALUES (1, 902, now() - interval '3 days', 1, false), (2, 902, now() - interval '8 minutes', 10, false);
    INSERT INTO product_changes (crawl_id, n, store_product_id, option_label, nth, kind, old_rec, new_rec, old_special_rec, new_special_rec,
                                 old_quantity, new_quantity, new_quantity_censored, cents, percent, crawled_at)
    SELECT b.crawl_id, c.n, 701, c.label, 0, c.kind::change_kind, c.old_rec, c.new_rec, c.old_special, c.new_special, c.old_quantity, c.new_quantity,
           c.censored, c.cents, c.percent, b.crawled_at
      FROM change_batches b
      JOIN (VALUES (1, 0, '1g', 'price_rise', 900, 1000, NULL::int, NULL::int, NULL::int, NULL::int, NULL::bool, 100, 11.11),
                   (2, 0, '1/8oz', 'price_drop', 4000, 3200, NULL, NULL, NULL, NULL, NULL, -800, -20),
                   (2, 1, '1/8oz', 'special_start', NULL, 4000, NULL, 3200, NULL, NULL, NULL, NULL, NULL),
                   (2, 2, '1/4oz', 'special_end', 6000, 6000, 5000, NULL, NULL, NULL, NULL, NULL, NULL),
                   (2, 3, '1g', 'sold_out', NULL, NULL, NULL, NULL, 4, NULL, NULL, NULL, NULL),
                   (2, 4, '1/2oz', 'restocked', NULL, NULL, NULL, NULL, NULL, 25, true, NULL, NULL),
                   (2, 5, '1oz', 'low_stock', NULL, NULL, NULL, NULL, 9, 2, NULL, NULL, NULL),
                   (2, 6, NULL, 'new', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
                   (2, 7, NULL, 'returned', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
                   (2, 8, '2g', 'price_rise', 1000, 1005, NULL, NULL, NULL, NULL, NULL, 5, 0.5))
           AS c(crawl, n, label, kind, old_rec, new_rec, old_special, new_special, old_quantity, new_quantity, censored, cents, percent)
        ON c.crawl = b.crawl_id;
    INSERT INTO product_changes (crawl_id, n, store_product_id, kind, crawled_at) SELECT 2, 9, 4711, 'gone', crawled_at FROM change_batches WHERE crawl_id = 2;
    SELECT publish_changes(100);";
/// A crawl that brings one change of another product.
const NEXT_CRAWL: &str = "
    INSERT INTO change_batches (crawl_id, dispensary_id, crawled_at, count, baseline) VALUES (3, 901, now(), 1, false);
    INSERT INTO product_changes (crawl_id, n, store_product_id, option_label, nth, kind, old_rec, new_rec, cents, percent, crawled_at)
    SELECT 3, 0, 701, '28g', 0, 'price_drop', 20000, 15000, -5000, -25, crawled_at FROM change_batches WHERE crawl_id = 3;
    SELECT publish_changes(100);";
/// Rules of the endpoint `operations`, of which one has notified.
const RULES: &str = "
    INSERT INTO change_rules (id, name, endpoint_id, kinds, min_percent, category, store_id, group_name, state, quiet_minutes, digest, digested_at, seq)
    VALUES (1, 'drops', 1, '{price_drop}', 10, 'flower', 902, NULL, 'CO', 360, 'hourly', now() - interval '5 minutes', 1),
           (2, 'a rule with a name that is longer than most of the others', 2, '{new,gone,returned}', NULL, NULL, NULL, 'rivals', NULL, 0, 'none', NULL, 1);
    SELECT setval(pg_get_serial_sequence('change_rules', 'id'), 100);
    INSERT INTO notifications (endpoint_id, event, subject, body, state, attempts, last_status)
    VALUES (1, 'products.changed', 'rule 1:abc', '{\"rule\": {\"id\": 1, \"name\": \"drops\"}, \"count\": 3, \"is_cut\": false,
             \"changes\": [{\"text\": \"Blue Ledger 1/8oz: $40.00 to $32.00 (-20 %)\"}]}', 'delivered', 1, 204);";

/// Words of the rows: the second line of each product, and the kind.
const ROWS: &str = "[...document.querySelectorAll('main [aria-labelledby=h-feed] tbody tr')].map((row) =>
    [row.querySelector('th .scope')?.innerText ?? row.querySelector('th').innerText, row.children[1].innerText.trim()].join(' '))";

impl World {
    pub async fn with_changes(self) -> World {
        let world = self.with_media().await;
        world.execute(CHANGES).await;
        world.execute(RULES).await;
        world
    }

    async fn rows(&self, what: &str, expected: &[&str]) {
        let holds = format!("JSON.stringify({ROWS}) === JSON.stringify({})", json!(expected));
        self.browser.until(&format!("{what}: {expected:?}"), &holds).await.unwrap();
    }
}

#[tokio::test]
async fn the_feed_has_the_newest_change_first_with_the_values_before_and_after() {
    let world = World::start().await.with_changes().await;
    world.open("/admin/changes").await;
    let newest = [
        "a product that was deleted Gone",
        "Quiet Orchard, 2g Price up",
        "Quiet Orchard Back",
        "Quiet Orchard New",
        "Quiet Orchard, 1oz Low stock",
        "Quiet Orchard, 1/2oz Restocked",
        "Quiet Orchard, 1g Sold out",
        "Quiet Orchard, 1/4oz Special ended",
        "Quiet Orchard, 1/8oz Special",
        "Quiet Orchard, 1/8oz Price down",
        "Quiet Orchard, 1g Price up",
    ];
    world.rows("all changes", &newest).await;
    let cells = "[...document.querySelectorAll('main [aria-labelledby=h-feed] tbody tr')].slice(4, 10).map((row) =>
        [...row.children].slice(2, 5).map((cell) => cell.innerText.replace(/\\s+/g, ' ').trim()).join('|'))";
    let expected = json!([
        "9 to 2 left||",
        "sold out to 25+||",
        "4 to sold out||",
        "$ 50.00 to $ 60.00|+20.0 %|+$ 10.00",
        "$ 40.00 to $ 32.00|−20.0 %|−$ 8.00",
        "$ 40.00 to $ 32.00|−20.0 %|−$ 8.00"
    ]);
    assert_eq!(world.browser.read(cells).await.unwrap(), expected);
    world.assert_no_errors().await;
}

#[tokio::test]
async fn a_new_change_comes_by_itself_and_waits_while_a_person_is_among_the_rows() {
    let world = World::start().await.with_changes().await;
    world.open("/admin/changes?kind=price_drop").await;
    is_live(&world.browser).await;
    world.rows("one so far", &["Quiet Orchard, 1/8oz Price down"]).await;
    // a window in the background has no focus, and its rows no events of it
    let rests = "document.querySelector('main [aria-labelledby=h-feed] table').parentElement.dispatchEvent(new PointerEvent('pointerenter'))";
    world.browser.run(rests, Vec::new()).await.unwrap();
    world.execute(NEXT_CRAWL).await;
    world.sees("1 new: show").await;
    world.rows("the rows stay", &["Quiet Orchard, 1/8oz Price down"]).await;
    world.press("1 new: show").await;
    world.rows("both", &["Quiet Orchard, 28g Price down", "Quiet Orchard, 1/8oz Price down"]).await;
    world.assert_no_errors().await;
}

#[tokio::test]
async fn filters_are_in_the_address_and_an_empty_list_says_why() {
    let world = World::start().await.with_changes().await;
    world.open("/admin/changes").await;
    world.click("//main//nav[@aria-label='Kinds of changes']//a[. = 'Prices']").await;
    let prices = ["Quiet Orchard, 2g Price up", "Quiet Orchard, 1/8oz Price down", "Quiet Orchard, 1g Price up"];
    world.rows("prices", &prices).await;
    for (typed, address, rows) in [
        ("min_percent:10", "min_percent=10", &prices[1..]),
        ("min_change:5", "min_cents=500", &prices[1..2]),
        ("state:CO category:FLOWER store:902", "store=902", &prices[1..2]),
    ] {
        world.browser.fill("main [role=combobox]", &format!("{typed}\u{e007}")).await.unwrap();
        world.rows(typed, rows).await;
        assert!(world.browser.location().await.unwrap().contains(address), "{typed}");
    }
    world.open("/admin/changes?from=2100-01-01").await;
    world.sees("No change matches").await;
    world.open("/admin/changes?kind=cheaper&brand=Quiet+Orchard&state=NV").await;
    world.sees("cheaper is not understood").await;
    world.click("//main//a[. = 'Show all']").await;
    world.sees("11 changes on this page").await;
    world.execute("TRUNCATE product_changes, change_batches; UPDATE change_feed SET newest = 0").await;
    world.open("/admin/changes").await;
    world.sees("There are no changes yet").await;
    world.assert_no_errors().await;
}

#[tokio::test]
async fn older_changes_are_a_page_away() {
    let world = World::start().await.with_changes().await;
    world
        .execute(
            "INSERT INTO change_batches (crawl_id, dispensary_id, crawled_at, count, baseline) VALUES (4, 902, now(), 60, false);
             INSERT INTO product_changes (crawl_id, n, store_product_id, kind, crawled_at)
             SELECT 4, n, 701, 'new', b.crawled_at FROM change_batches b, generate_series(0, 59) n WHERE crawl_id = 4;
             SELECT publish_changes(100)",
        )
        .await;
    world.open("/admin/changes").await;
    world.sees("50 changes on this page").await;
    world.click("//main//a[. = 'Older']").await;
    world.sees("21 changes on this page").await;
    world.says_no_more("Older").await;
    world.click("//main//a[. = 'First page']").await;
    world.sees("50 changes on this page").await;
    world.assert_no_errors().await;
}

#[tokio::test]
async fn a_rule_is_added_changed_disabled_and_removed() {
    let world = World::start().await.with_changes().await;
    world.open("/admin/changes").await;
    world.press("Add rule").await;
    world.browser.fill("dialog [name=name]", "cheap edibles").await.unwrap();
    world.click("//dialog[@open]//input[@value='special_start']").await;
    world.browser.fill("dialog [name=min_cents]", "2.50").await.unwrap();
    world.browser.fill("dialog [name=state]", "nowhere").await.unwrap();
    world.click(&in_dialog("Add rule")).await;
    world
        .browser
        .until("its field is wrong", "document.getElementById('field-state').ariaInvalid === 'true'")
        .await
        .unwrap();
    world.browser.fill("dialog [name=state]", "co").await.unwrap();
    world.browser.fill("dialog [name=quiet_minutes]", "6").await.unwrap();
    world.click(&in_dialog("Add rule")).await;
    world.reports("The rule cheap edibles is added").await;
    world.sees("price down, special, by at least $ 2.50, in CO; a product once in 6 h").await;
    let added = "SELECT count(*) FROM change_rules WHERE name = 'cheap edibles' AND kinds = '{price_drop,special_start}' AND min_cents = 250
                    AND state = 'CO' AND quiet_minutes = 360 AND enabled";
    assert_eq!(world.count(added).await, 1);

    world.press("Edit… rule drops").await;
    let store = world.browser.read("document.querySelector('dialog [name=store_id]').value").await.unwrap();
    assert_eq!(store, "902");
    world.browser.fill("dialog [name=min_percent]", "").await.unwrap();
    world.browser.fill("dialog [name=max_price]", "30").await.unwrap();
    world.click(&in_dialog("Save")).await;
    world.reports("The rule drops is saved").await;
    let changed = "SELECT count(*) FROM audit_log WHERE action = 'media.update' AND detail = '{\"min_percent\": null, \"max_price\": 3000}'";
    until("only what differs is sent", PATIENCE, async || world.count(changed).await == 1).await;

    world.press("Disable rule drops").await;
    world.press("Enable rule drops").await;
    world.press("Remove… rule drops").await;
    world.click(&in_dialog("Remove 1 rule")).await;
    world.reports("The rule drops is removed").await;
    assert_eq!(world.count("SELECT count(*) FROM change_rules WHERE name = 'drops'").await, 0);
}

#[tokio::test]
async fn a_rule_shows_what_it_sent_and_what_it_would_have_sent() {
    let world = World::start().await.with_changes().await;
    world.open("/admin/changes").await;
    world.sees("price down, at least 10 %, category flower, at Jalapeño Dusk").await;
    world.press("What would it have sent rule drops").await;
    let says = async |text: &str| {
        let holds = format!("document.querySelector('dialog[open]')?.innerText.includes({})", json!(text));
        world.browser.until(&format!("the dialog says {text:?}"), &holds).await.unwrap();
    };
    says("1 message with 1 change in the last 7 days").await;
    says("Blue Ledger (Quiet Orchard) 1/8oz: $40.00 to $32.00 (-20 %)").await;
    says("3 changes, delivered").await;
    world.click(&in_dialog("Close")).await;
    world.open("/admin/notifications?endpoint=1").await;
    world.sees("rule drops: 3 changes, Blue Ledger").await;
    world.assert_no_errors().await;
}

#[tokio::test]
async fn a_viewer_sees_changes_and_rules_and_may_change_none() {
    let world = World::start().await.with_changes().await;
    let viewer = world.server.token("viewer").await;
    world.browser.open(&world.url("/login?next=/admin/changes")).await.unwrap();
    world.browser.fill("#token", &viewer).await.unwrap();
    world.press("Log in").await;
    world.sees("11 changes on this page").await;
    world.sees("stores of rivals").await;
    let buttons = "[...document.querySelectorAll('main [aria-labelledby=rules] button')].map((each) => each.innerText.split('\\n')[0].trim()).join()";
    world
        .browser
        .until("only the rehearsals", &format!("/^(What would it have sent[^,]*,?){{2}}$/.test({buttons})"))
        .await
        .unwrap();
}

#[tokio::test]
async fn the_feed_its_rules_and_their_dialogs_fit_and_are_accessible() {
    let world = World::start().await.with_changes().await;
    let (axe, mut wrong) = (axe(), Vec::new());
    for open in ["", "//main//button[contains(., 'Edit')]", "//main//button[contains(., 'What would')]"] {
        world.browser.look(Look::desk(false)).await.unwrap();
        world.open("/admin/changes").await;
        world.sees("stores of rivals").await;
        if !open.is_empty() {
            world.click(&format!("({open})[1]")).await;
            world
                .browser
                .until("the dialog", "!!document.querySelector('dialog[open] :is(form, ol.messages)')")
                .await
                .unwrap();
        }
        for look in [Look::desk(false), Look::phone(true)] {
            world.browser.look(look).await.unwrap();
            let width = world.browser.read("document.documentElement.scrollWidth").await.unwrap();
            if width.as_u64() > Some(u64::from(look.width)) {
                wrong.push(format!("{open} at {}: {width} px wide", look.name()));
            }
            let found = violations(&world, &axe).await;
            wrong.extend(found.into_iter().map(|fault| format!("{open} at {}: {fault}", look.name())));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    world.assert_no_errors().await;
}
