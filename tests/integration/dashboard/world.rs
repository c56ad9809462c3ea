//! The base of the tests of pages: a server whose database holds some of everything, and a browser that looks
//! at it.

use xtask::browser::Browser;

use super::browsers::LentBrowser;
use crate::api::images::webp;
use crate::api::reads::crawled;
use crate::api::server::Server;

/// Waits until a page follows its server.
pub async fn is_live(browser: &Browser) {
    browser.until("the stream is on", "document.documentElement.dataset.live === 'on'").await.unwrap();
}

/// The button of an open dialog whose text begins so, as an XPath.
pub fn in_dialog(text: &str) -> String {
    format!("//dialog[@open]//button[starts-with(normalize-space(), '{text}')]")
}

/// A page's view of a server. Its end fails the test where the console holds an error.
pub struct World {
    pub server: Server,
    pub browser: LentBrowser,
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

/// Records of each kind of media, items and notifications in each state.
const MEDIA: &str = "
    INSERT INTO credentials (id, name, platform, kind, username, last_result) VALUES
      (1, 'board', 'A board with a name that is longer than most', 'cookies', 'ann', 'the login page came back: renew the cookies'),
      (2, 'hook', 'notifications', 'token', NULL, NULL);
    INSERT INTO media_accounts (id, platform, username, kind, url, interval_hours, enabled, last_scraped_at, last_error) VALUES
      (1, 'mastodon', 'ann', 'public', 'https://site.example/@ann', 6.5, true, now() - interval '3 hours', NULL),
      (2, 'mastodon', 'نور_a_very_long_name_without_any_blank_that_goes_on_and_on', 'creator', NULL, NULL, true, NULL, 'HttpError: 404 Not Found for https://site.example/@nour'),
      (3, 'site', 'bea', 'public', NULL, 24, false, NULL, NULL);
    INSERT INTO watched_channels (channel_id, download, last_polled_at, last_error) VALUES
      ('UCabcdefghijklmnopqrstuv', true, now(), NULL), ('UC0123456789_-0123456789', false, NULL, 'www.youtube.com answered 404');
    INSERT INTO saved_searches (query, extensions, min_bytes, download) VALUES ('linux iso', '{iso,img}', 700000000, true), ('a b', '{}', 0, false);
    INSERT INTO people (tmdb_id, name, last_error) VALUES (31, 'Ann Example', NULL), (32, 'Bea Example', 'no credential of the platform tmdb');
    INSERT INTO forums (id, name, kind, base_url, credential_id, selectors) VALUES
      (1, 'A board with a name that is longer than most', 'xenforo', 'https://forum.example/a/board/with/a/path/that/is/longer/than/most/of/them', 1, '{\"post\": \"article.post\", \"next\": \"a.next\"}'),
      (2, 'small', 'discourse', 'https://talk.example', NULL, '{}');
    INSERT INTO watched_threads (forum_id, external_id, download, last_post_id, last_error) VALUES
      (1, '123', true, '98765', NULL), (2, '21', false, NULL, 'no posts were found');
    INSERT INTO notification_endpoints (id, name, kind, target, credential_id, enabled, disabled_reason) VALUES
      (1, 'operations', 'webhook', 'https://example.org/hooks/drover/of-a-team-with-a-long-address/and-more-of-it?channel=operations', 2, true, NULL),
      (2, 'phone', 'ntfy', 'https://ntfy.example/mine', NULL, false, 'the endpoint answered 410');
    INSERT INTO notification_rules (endpoint_id, events, account) VALUES (1, '{job.completed,job.failed}', 'ann'), (2, '{job.failed}', NULL);
    INSERT INTO notifications (id, endpoint_id, event, subject, body, state, attempts, next_attempt_at, last_status, last_error) VALUES
      (1, 1, 'job.failed', '801:2', '{\"job_type\": \"scrape_account\", \"account\": \"ann\"}', 'failed', 10, now(), 500, 'https://example.org/hooks/drover answered 500'),
      (2, 1, 'job.completed', '802:1', '{\"job_type\": \"youtube_monitor\", \"account\": null}', 'delivered', 1, now(), 204, NULL),
      (3, 2, 'test', 'c0ffee', '{}', 'pending', 1, now() + interval '5 minutes', NULL, 'the connection was refused');
    INSERT INTO media_files (sha256, path, bytes, media_type, width, height, duration_ms) VALUES
      (repeat('a', 64), 'media/aa/' || repeat('a', 64) || '.jpg', 482113, 'image/jpeg', 1920, 1080, NULL),
      (repeat('b', 64), 'media/bb/' || repeat('b', 64) || '.mp4', 48211300, 'video/mp4', 1280, 720, 754000);
    INSERT INTO media_items (source, source_id, account_id, kind, url, title, posted_at, state, attempts, last_error, sha256) VALUES
      ('mastodon', '1120_0', 1, 'file', 'https://site.example/media/1120.jpg', 'A walk at dusk', now() - interval '1 day', 'downloaded', 1, NULL, repeat('a', 64)),
      ('youtube', 'dQw4w9WgXcQ', NULL, 'page', 'https://www.youtube.com/watch?v=dQw4w9WgXcQ', 'A talk', now(), 'downloaded', 2, NULL, repeat('b', 64)),
      ('mastodon', '1121_0', 1, 'file', 'https://site.example/media/an-address-that-is-longer-than-most-and-has-no-blank/1121.jpg', NULL, NULL, 'gone', 1, 'site.example answered 404', NULL),
      ('small', 'p7', NULL, 'file', 'javascript:alert(1)', 'An address that is none', NULL, 'refused', 1, 'the server sent a page in place of a file', NULL),
      ('easynews', 'ffee', NULL, 'file', 'https://members.easynews.com/dl/ffee.iso', 'linux.iso', NULL, 'failed', 3, 'members.easynews.com answered 503', NULL),
      ('youtube', 'abcdefghijk', NULL, 'page', 'https://www.youtube.com/watch?v=abcdefghijk', 'Another talk', NULL, 'known', 0, NULL, NULL);
    SELECT setval(pg_get_serial_sequence(name, 'id'), 100)
      FROM unnest(ARRAY['credentials', 'media_accounts', 'forums', 'notification_endpoints', 'notifications']) AS name;";

impl World {
    pub async fn start() -> World {
        World::on(Server::start().await).await
    }

    pub async fn on(server: Server) -> World {
        let browser = LentBrowser::take().await;
        db::schedules::ensure_defaults(
            &server.database.db.client().await.unwrap(),
            &drover::platforms::default_schedules(),
        )
        .await
        .unwrap();
        server.database.raw.batch_execute(SOME_OF_EVERYTHING).await.unwrap();
        World { server, browser }
    }

    pub async fn with_media(self) -> World {
        self.execute(MEDIA).await;
        let picture = self.server.storage.path().join(format!("media/aa/{}.jpg", "a".repeat(64)));
        std::fs::create_dir_all(picture.parent().unwrap()).unwrap();
        std::fs::write(picture, webp()).unwrap();
        self
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
