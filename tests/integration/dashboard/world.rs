//! The base of the tests of pages: a server whose database holds some of everything, and a browser that looks
//! at it.

use tokio::sync::{Semaphore, SemaphorePermit};
use xtask::browser::Browser;

use crate::api::reads::crawled;
use crate::api::server::Server;

/// Browsers at once: each is several processes, and tests of other things run beside them.
static BROWSERS: Semaphore = Semaphore::const_new(2);

/// For one more browser, while it is kept.
pub async fn permit() -> SemaphorePermit<'static> {
    BROWSERS.acquire().await.unwrap()
}

/// Waits until a page follows its server.
pub async fn is_live(browser: &Browser) {
    browser.until("the stream is on", "document.documentElement.dataset.live === 'on'").await.unwrap();
}

/// A page's view of a server. Its end fails the test where the console holds an error.
pub struct World {
    pub server: Server,
    pub browser: Browser,
    _permit: SemaphorePermit<'static>,
}

/// Workers, proxies, a host and schedules; a task in each status, one with attempts; a store with products
/// and their history.
const SOME_OF_EVERYTHING: &str = "
    INSERT INTO worker_registry (worker_id, friendly_name, pod, role, roles, status, max_concurrent_tasks, active_task_count)
    SELECT 'worker-' || pod || n, pod || '-' || n, pod, 'any', '{}', CASE WHEN pod = 'Kryll' AND n = 2 THEN 'backing_off' ELSE 'active' END, 3, n
      FROM unnest(ARRAY['Aethelgard', 'Kryll', 'Xylos']) AS pod, generate_series(1, 2) AS n;
    INSERT INTO dispensaries (id, name, slug, state, platform_dispensary_id, last_complete_at) VALUES
      (901, 'بستان القمر NV 55', 'garden', 'NV', 'garden', now() - interval '9 hours'),
      (902, 'Jalapeño Dusk & Crème Nocturne Collective of Greater Thicketville, Medical and Recreational, CO 47', 'long', 'CO', 'long', now());
    INSERT INTO proxies (host, port, protocol, is_active, last_error) VALUES
      ('203.0.113.14', 3128, 'http', true, 'refused by dutchie.com'), ('isp-7.longer-names-happen.proxies.example', 8443, 'https', false, NULL);
    INSERT INTO worker_tasks (id, role, status, error_message, dispensary_id, retry_count, worker_id, started_at, completed_at) VALUES
      (801, 'payload_fetch', 'failed', 'dutchie.com refused the request: 403', 901, 3, 'worker-Kryll1', now() - interval '2 minutes', now() - interval '1 minute'),
      (802, 'payload_fetch', 'failed', 'dutchie.com refused the request: 403', 902, 3, 'worker-Kryll1', now() - interval '2 minutes', now() - interval '1 minute'),
      (803, 'product_refresh', 'failed', 'the menu came back empty', 902, 0, 'worker-Kryll1', now() - interval '2 minutes', now() - interval '1 minute'),
      (804, 'product_refresh', 'completed', NULL, 902, 0, 'worker-Kryll1', now() - interval '2 minutes', now() - interval '1 minute'),
      (805, 'analytics_refresh', 'cancelled', NULL, NULL, 0, NULL, NULL, now() - interval '1 minute');
    INSERT INTO task_attempts (task_id, fence, worker_id, outcome, claimed_at, finished_at, error) VALUES
      (801, 1, 'worker-Kryll1', 'lost', now() - interval '20 minutes', now() - interval '19 minutes', NULL),
      (801, 2, 'worker-Kryll1', 'failed', now() - interval '2 minutes', now() - interval '1 minute', 'dutchie.com refused the request: 403');
    INSERT INTO store_products (id, dispensary_id, provider, provider_product_id, name_raw, brand_name_raw, category, price_rec, is_on_special,
                                quantity_censored, is_in_stock, stock_status, first_seen_at, last_seen_at)
    VALUES (701, 902, 'dutchie', '64f09ad2c1b7e50008a3f1c9', 'Blue Ledger', 'Quiet Orchard', 'Flower', 3200, true, false, true, 'in_stock', now(), now());
    INSERT INTO store_product_variants (store_product_id, option_label, nth, price_rec, quantity, quantity_censored, is_in_stock)
    VALUES (701, '1/8oz', 0, 3200, 17, false, true), (701, '1g', 0, 1000, 0, false, false);";

impl World {
    pub async fn start() -> World {
        World::on(Server::start().await).await
    }

    pub async fn on(server: Server) -> World {
        let permit = permit().await;
        db::schedules::ensure_defaults(&server.database.db.client().await.unwrap()).await.unwrap();
        server.database.raw.batch_execute(SOME_OF_EVERYTHING).await.unwrap();
        World { server, browser: Browser::start().await.unwrap(), _permit: permit }
    }

    /// A store with two payloads, and so with a diff.
    pub async fn with_payloads(self) -> (World, i64) {
        let (store, _) = crawled(&self.server, &[&["64f000000000000000000001"], &["64f000000000000000000002"]]).await;
        (self, store)
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{}{path}", self.server.address, self.server.state.config.base_path)
    }

    pub async fn open(&self, path: &str) {
        self.browser.open(&self.url(path)).await.unwrap();
    }

    /// Waits until the main part of the page holds this text.
    pub async fn sees(&self, text: &str) {
        let holds = format!("document.querySelector('main').innerText.includes({})", serde_json::json!(text));
        self.browser.until(&format!("the page says {text:?}"), &holds).await.unwrap();
    }

    /// Waits until a message holds this text.
    pub async fn reports(&self, text: &str) {
        let holds = format!("document.querySelector('.toasts').innerText.includes({})", serde_json::json!(text));
        self.browser.until(&format!("a message says {text:?}"), &holds).await.unwrap();
    }

    pub async fn says_no_more(&self, text: &str) {
        let lacks = format!("!document.querySelector('main').innerText.includes({})", serde_json::json!(text));
        self.browser.until(&format!("the page no longer says {text:?}"), &lacks).await.unwrap();
    }

    pub async fn click(&self, xpath: &str) {
        self.browser.click(xpath).await.unwrap();
    }

    pub async fn press(&self, button: &str) {
        self.browser.press_button(button).await.unwrap();
    }

    pub async fn assert_no_errors(&self) {
        let log = self.browser.log().await.unwrap();
        assert!(log.is_empty(), "the console says: {log:#?}");
    }

    pub async fn execute(&self, sql: &str) {
        self.server.database.raw.batch_execute(sql).await.unwrap();
    }

    /// The first column of the first row.
    pub async fn count(&self, sql: &str) -> i64 {
        self.server.database.raw.query_one(sql, &[]).await.unwrap().get(0)
    }
}
