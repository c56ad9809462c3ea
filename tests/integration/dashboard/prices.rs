//! The page of prices: now against another day, by unit, and brand against brand.

use serde_json::{Value, json};
use xtask::browser::Key;
use xtask::look::Look;

use super::every_page::{axe, violations};
use super::exports::whole;
use super::world::World;

/// Two options of the product 701 whose price changed yesterday, and prices by unit of two brands in three weeks.
const PRICES: &str = "
    UPDATE store_product_variants SET price_rec = 3200, size_mg = 3500, rec_per_g = 914286, unit_basis = 'weight', is_in_stock = true
     WHERE store_product_id = 701 AND option_label = '1/8oz';
    DELETE FROM store_product_variant_history WHERE store_product_id = 701;
    INSERT INTO store_product_variant_history (store_product_id, option_label, nth, crawl_id, crawled_at, price_rec, quantity_censored, is_in_stock, gone,
                                               rec_per_g, unit_basis)
    VALUES (701, '1/8oz', 0, 1, now() - interval '20 days', 4000, false, true, false, 1142857, 'weight'),
           (701, '1/8oz', 0, 2, now() - interval '1 day', 3200, false, true, false, 914286, 'weight'),
           (701, '1g', 0, 1, now() - interval '20 days', 800, false, false, false, NULL, NULL),
           (701, '1g', 0, 2, now() - interval '1 day', 1000, false, false, false, NULL, NULL);
    INSERT INTO daily_price_changes (day, store_product_id, changed_at, dispensary_id, nth, size, option_label, state, canonical_category, brand_key)
    SELECT (t.at AT TIME ZONE 'UTC')::date, 701, t.at, 902, 0, size, label, 'CO', 'flower', 'quiet orchard'
      FROM (SELECT now() - interval '1 day' AS at) t, (VALUES ('1/8oz', 20), ('1g', 25)) AS c(label, size);
    INSERT INTO unit_price_weeks (week, state, category, brand_key, unit, brand, stores, options, price_min, price_p25, price_median, price_p75, price_max)
    SELECT date_trunc('week', now() AT TIME ZONE 'UTC')::date - 7 * n, state, category, brand_key, unit, nullif(brand, ''), stores, options,
           CASE unit WHEN 'g' THEN 500000 END, CASE unit WHEN 'g' THEN 700000 END, CASE unit WHEN 'g' THEN 900000 + 50000 * n END,
           CASE unit WHEN 'g' THEN 1100000 END, CASE unit WHEN 'g' THEN 1500000 END
      FROM generate_series(0, 2) AS n, (VALUES ('', ''), ('CO', '')) AS s(state), (VALUES (''), ('flower')) AS c(category),
           (VALUES ('', '', 10, 90), ('quiet orchard', 'Quiet Orchard', 8, 40), ('mesa', 'Mesa', 5, 20), ('tidal', 'Tidal', 2, 4)) AS b(brand_key, brand, stores, options),
           (VALUES (''), ('g')) AS u(unit);
    INSERT INTO view_refreshes VALUES ('daily_price_changes', now()), ('unit_price_weeks', now()) ON CONFLICT (name) DO UPDATE SET refreshed_at = now();";

/// The words of the cells of a panel's rows.
fn cells(panel: &str) -> String {
    format!(
        "[...document.querySelectorAll('main [aria-labelledby={panel}] tbody tr')].map((row) =>
            [...row.children].map((cell) => cell.innerText.replace(/\\s+/g, ' ').trim()).join('|'))"
    )
}

impl World {
    async fn with_prices(self) -> World {
        self.execute(PRICES).await;
        self
    }

    async fn has_rows(&self, panel: &str, expected: Value) {
        let holds = format!("JSON.stringify({}) === JSON.stringify({expected})", cells(panel));
        if self.browser.until(&format!("{panel}: {expected}"), &holds).await.is_err() {
            panic!("{}", self.browser.read(&cells(panel)).await.unwrap());
        }
    }
}

#[tokio::test]
async fn prices_are_compared_with_a_day_by_unit_and_brand_against_brand() {
    let world = World::start().await.with_prices().await;
    world.execute("UPDATE dispensaries SET last_payload_id = 1").await;
    db::products::search::copy_names(&world.server.database.db, testkit::PATIENCE).await.unwrap();
    world.open("/admin/prices").await;
    let store = "Jalapeño Dusk & Crème Nocturne Collective of Greater Thicketville, Medical and Recreational, CO 47 CO";
    let rise = format!("Blue Ledger Quiet Orchard, 1g|{store}|$ 8.00 to $ 10.00 out of stock|+25.0 %|+$ 2.00||1 d ago");
    let drop = format!(
        "Blue Ledger Quiet Orchard, 1/8oz|{store}|$ 40.00 to $ 32.00|−20.0 %|−$ 8.00|$ 11.43 to $ 9.14 a gram|1 d ago"
    );
    world.has_rows("h-price-changes", json!([rise, drop])).await;
    world.click("//main//th//button[contains(., '$')]").await;
    world.has_rows("h-price-changes", json!([drop, rise])).await;
    world.browser.fill("main [role=combobox]", "orchard direction:drop max_per_gram:10\u{e007}").await.unwrap();
    world.has_rows("h-price-changes", json!([drop])).await;
    world.press("Export").await;
    world.files().await;
    assert_eq!(world.fetched().await, json!([whole("price_changes", 1), whole("unit_prices", 1)].concat()));
    world.browser.key(Key::Escape).await.unwrap();

    world.has_rows("h-prices-by-unit", json!(["flower|10 100.0 %|90|$ 5.00|$ 7.00|$ 9.00|$ 11.00|$ 15.00"])).await;
    world.click("//main//a[. = 'flower']").await;
    let brands = [("Quiet Orchard", "8 80.0 %", 40), ("Mesa", "5 50.0 %", 20), ("Tidal", "2 20.0 %", 4)];
    let rows = brands.map(|(brand, menus, options)| {
        format!("{brand}|{menus}|{options}|$ 5.00|$ 7.00|$ 9.00|$ 11.00|$ 15.00|Compare")
    });
    world.has_rows("h-prices-by-unit", json!(rows)).await;
    world.click("//main//button[@aria-label = 'Compare Tidal']").await;
    world.click("//main//button[@aria-label = 'Compare Mesa']").await;
    let chart = "document.querySelector('main [aria-labelledby=h-brand-against-brand] svg[role=img]').getAttribute('aria-label')";
    let words = "Menus. Tidal: 20.0 % in the last week; Mesa: 50.0 % in the last week.";
    world.browser.until("both brands in the chart", &format!("{chart} === '{words}'")).await.unwrap();
    let address = world.browser.location().await.unwrap();
    assert!(address.contains("left=Tidal&right=Mesa"), "{address}");
    world.assert_no_errors().await;
}

#[tokio::test]
async fn before_the_first_refresh_the_page_says_what_is_to_come_and_it_fits_and_is_accessible() {
    let world = World::start().await;
    world.execute("TRUNCATE view_refreshes, daily_price_changes, unit_price_weeks").await;
    world.open("/admin/prices").await;
    world.sees("the first one is still to come").await;
    world.execute(PRICES).await;
    let (axe, mut wrong) = (axe(), Vec::new());
    for look in [Look::desk(false), Look::phone(true)] {
        world.browser.look(look).await.unwrap();
        world.open("/admin/prices?by=brand").await;
        world.sees("Tidal").await;
        wrong.extend(violations(&world, &axe).await);
        let width = "document.documentElement.scrollWidth - innerWidth";
        assert_eq!(world.browser.read(width).await.unwrap(), 0, "the page is wider than {look:?}");
    }
    assert_eq!(wrong, [""; 0]);
    world.open("/admin/prices?since=yesterday&direction=up").await;
    world.sees("direction:up is not understood").await;
    world.assert_no_errors().await;
}
