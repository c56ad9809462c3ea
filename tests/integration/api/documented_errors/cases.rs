//! The requests that provoke the errors of single operations, and the things that they are about.

use super::super::openapi::ID;

/// A body that each operation takes. The things it names do not exist.
pub const BODIES: [(&str, &str); 54] = [
    ("POST /api/groups/{group}/stores", r#"{"add": [4711]}"#),
    ("POST /api/job-queue/enqueue", r#"{"role": "payload_fetch", "dispensary_id": 4711}"#),
    ("POST /api/job-queue/enqueue-batch", r#"{"tasks": [{"role": "analytics_refresh"}]}"#),
    ("POST /api/job-queue/enqueue-state", r#"{"state_code": "AZ"}"#),
    ("POST /api/jobs", r#"{"job_type": "youtube_monitor", "depends_on": [4711]}"#),
    (
        "POST /api/jobs/import",
        r#"{"source": "queue.db", "jobs": [{"old_id": 1, "job": {"job_type": "youtube_monitor"}}]}"#,
    ),
    (
        "POST /api/licences/import",
        r#"{"state": "AZ", "licences": [{"licence": "A1", "name": "Fern", "address": "12 Example Rd"}]}"#,
    ),
    ("POST /api/media/accounts", r#"{"platform": "site", "username": "bea"}"#),
    ("POST /api/media/change_rules", r#"{"name": "drops", "endpoint_id": 102, "kinds": ["price_drop"]}"#),
    ("POST /api/media/channels", r#"{"channel_id": "UCabcdefghijklmnopqrstuv"}"#),
    ("POST /api/media/credentials", r#"{"name": "films", "platform": "tmdb", "kind": "token", "secret": "s"}"#),
    ("POST /api/media/endpoints", r#"{"name": "phone", "kind": "ntfy", "target": "https://ntfy.example/a"}"#),
    ("POST /api/media/forums", r#"{"name": "board", "kind": "phpbb", "base_url": "https://forum.example"}"#),
    ("POST /api/media/people", r#"{"tmdb_id": 42, "name": "Ann"}"#),
    ("POST /api/media/rules", r#"{"endpoint_id": 102, "events": ["job.failed"]}"#),
    ("POST /api/media/searches", r#"{"query": "linux"}"#),
    ("POST /api/media/threads", r#"{"forum_id": 101, "external_id": "1"}"#),
    ("POST /api/pauses", r#"{"scope": "store", "of": "4711", "reason": "closed"}"#),
    ("POST /api/proxies", r#"{"host": "192.0.2.1", "port": 80}"#),
    ("POST /api/proxies/import", r#"{"proxies": ["192.0.2.1:80"]}"#),
    ("POST /api/retailer-decisions", r#"{"stores": [4711, 4712], "is_same": true}"#),
    ("POST /api/schedules", r#"{"name": "all", "role": "payload_fetch", "interval_hours": 4}"#),
    ("POST /api/session", r#"{"token": "unknown"}"#),
    ("POST /api/stores/bulk", r#"{"action": "enable", "ids": [4711]}"#),
    ("POST /api/stores/import", r#"{"stores": [{"name": "Leaf", "slug": "leaf"}]}"#),
    ("POST /api/tasks", r#"{"role": "payload_fetch", "dispensary_id": 4711}"#),
    ("POST /api/tasks/bulk", r#"{"action": "retry", "ids": [4711]}"#),
    ("POST /api/tasks/generate/discovery", r#"{"platform": "dutchie"}"#),
    ("POST /api/tasks/generate/resync", "{}"),
    ("POST /api/tasks/migration/create-resync-tasks", "{}"),
    ("POST /api/tasks/recover-stale", "{}"),
    ("POST /api/tokens", r#"{"name": "grafana", "role": "viewer"}"#),
    ("POST /api/worker-registry/deregister", r#"{"worker_id": "elsewhere-1"}"#),
    ("POST /api/worker-registry/heartbeat", r#"{"worker_id": "elsewhere-1"}"#),
    ("POST /api/worker-registry/register", r#"{"worker_id": "elsewhere-2"}"#),
    ("POST /api/workers/k8s/scale", r#"{"replicas": 8}"#),
    ("PUT /api/groups/{group}", r#"{"name": "others"}"#),
    ("PUT /api/hosts/{host}", r#"{"breaker": "closed"}"#),
    ("PUT /api/jobs/{id}", r#"{"priority": 3}"#),
    ("PUT /api/media/accounts/{id}", r#"{"enabled": false}"#),
    ("PUT /api/media/change_rules/{id}", r#"{"enabled": false}"#),
    ("PUT /api/media/channels/{id}", r#"{"download": true}"#),
    ("PUT /api/media/credentials/{id}", r#"{"username": "ann"}"#),
    ("PUT /api/media/endpoints/{id}", r#"{"enabled": true}"#),
    ("PUT /api/media/forums/{id}", r#"{"base_url": "https://other.example"}"#),
    ("PUT /api/media/people/{id}", r#"{"name": "Bea"}"#),
    ("PUT /api/media/rules/{id}", r#"{"events": ["job.failed"]}"#),
    ("PUT /api/media/searches/{id}", r#"{"min_bytes": 5}"#),
    ("PUT /api/media/threads/{id}", r#"{"download": true}"#),
    ("PUT /api/proxies/{id}", r#"{"is_active": true}"#),
    ("PUT /api/retailers/{id}", r#"{"name": "Fern"}"#),
    ("PUT /api/schedules/{id}", r#"{"priority": 3}"#),
    ("PUT /api/stores/{id}", r#"{"crawl_enabled": true}"#),
    ("PUT /api/tasks/{id}", r#"{"priority": 3}"#),
];

/// Queries without which nothing is looked for.
pub const QUERIES: [(&str, &str); 2] =
    [("GET /api/products/search", "?q=a"), ("GET /api/stats/series", "?metric=tasks")];

/// Queries that name what is not there, of operations whose path is always there.
pub const MISSING: [(&str, &str); 1] = [("GET /api/export/{dataset}", "?store=4711")];

/// Things that are made once: a second time it is a conflict.
pub const TWICE: [(&str, &str); 16] = [
    ("POST /api/job-queue/enqueue", r#"{"role": "analytics_refresh"}"#),
    ("POST /api/jobs", r#"{"job_type": "forum_scrape"}"#),
    ("POST /api/media/accounts", r#"{"platform": "site", "username": "twice"}"#),
    ("POST /api/media/change_rules", r#"{"name": "twice", "endpoint_id": 102, "kinds": ["gone"]}"#),
    ("POST /api/media/channels", r#"{"channel_id": "UCtwiceefghijklmnopqrstu"}"#),
    ("POST /api/media/endpoints", r#"{"name": "twice", "kind": "ntfy", "target": "https://ntfy.example/a"}"#),
    ("POST /api/media/forums", r#"{"name": "twice", "kind": "phpbb", "base_url": "https://forum.example"}"#),
    ("POST /api/media/people", r#"{"tmdb_id": 43, "name": "Ann"}"#),
    ("POST /api/media/rules", r#"{"endpoint_id": 102, "events": ["job.completed"]}"#),
    ("POST /api/media/searches", r#"{"query": "twice"}"#),
    ("POST /api/media/threads", r#"{"forum_id": 101, "external_id": "2"}"#),
    ("POST /api/proxies", r#"{"host": "192.0.2.1", "port": 81}"#),
    ("POST /api/schedules", r#"{"name": "twice", "role": "payload_fetch", "interval_hours": 4}"#),
    ("POST /api/tasks", r#"{"role": "analytics_refresh"}"#),
    ("POST /api/tasks/generate/discovery", r#"{"platform": "dutchie"}"#),
    ("POST /api/tokens", r#"{"name": "twice", "role": "viewer"}"#),
];

/// Things that the requests of [`REFUSED`] are about. New things have smaller numbers.
pub const THINGS: &str = "
    INSERT INTO worker_tasks (id, role, status, completed_at)
    VALUES (101, 'payload_fetch', 'completed', now()), (111, 'scrape_account', 'completed', now());
    INSERT INTO worker_tasks (id, role, status, worker_id, lease_expires_at)
    VALUES (102, 'payload_fetch', 'running', 'w', now() + interval '1 hour'),
           (112, 'scrape_account', 'running', 'w', now() + interval '1 hour');
    INSERT INTO worker_tasks (id, role) VALUES (103, 'payload_fetch');
    INSERT INTO task_schedules (id, name, role, cron)
    VALUES (101, 'taken', 'payload_fetch', '0 0 6 * * *'), (102, 'broken', 'payload_fetch', 'often');
    INSERT INTO task_schedules (name, role, cron, group_name)
    VALUES ('of 103', 'payload_fetch', '0 0 6 * * *', 'group-103'), ('of 104', 'payload_fetch', '0 0 6 * * *', 'group-104');
    INSERT INTO dispensaries (id, name, groups) SELECT 4000, 'everywhere', array_agg('g' || n) FROM generate_series(1, 20) n;
    INSERT INTO dispensaries (id, name, platform_dispensary_id) VALUES (4001, 'taken', 'taken'), (4002, 'alone', 'alone');
    INSERT INTO retailers (id, name) VALUES (101, 'of two stores');
    UPDATE dispensaries SET retailer_id = 101 WHERE id IN (4000, 4001);
    INSERT INTO store_products (dispensary_id, provider, provider_product_id, name_raw, is_on_special, quantity_censored, is_in_stock, stock_status,
                                first_seen_at, last_seen_at)
    VALUES (4000, 'dutchie', 'a', 'a', false, false, true, 'in_stock', now(), now());
    INSERT INTO proxies (id, host, port, username, password) OVERRIDING SYSTEM VALUE
    VALUES (101, 'unreadable.example', 80, 'u', '$drover$9$x');
    INSERT INTO worker_registry (worker_id, friendly_name, pod, role, roles, status, max_concurrent_tasks)
    VALUES ('101', 'Xylos-1', 'Xylos', 'any', '{}', 'active', 1);
    INSERT INTO pauses (scope, target, reason, created_by) SELECT 'pod', 'p' || n, 'closed', 'me' FROM generate_series(1, 1000) n;
    INSERT INTO credentials (id, name, platform, kind) VALUES (101, 'of an account', 'site', 'token');
    INSERT INTO media_accounts (platform, username, kind, credential_id) VALUES ('site', 'ann', 'public', 101);
    INSERT INTO notification_endpoints (id, name, kind, target, enabled)
    VALUES (101, 'disabled', 'ntfy', 'https://ntfy.example/a', false), (102, 'enabled', 'ntfy', 'https://ntfy.example/a', true);
    INSERT INTO notification_rules (id, endpoint_id, events) VALUES (101, 101, '{job.failed}'), (102, 101, '{job.completed}');
    INSERT INTO change_rules (id, name, endpoint_id, kinds) VALUES (101, 'first', 101, '{gone}'), (102, 'taken', 101, '{gone}');
    INSERT INTO notifications (id, endpoint_id, event, subject, body) VALUES (101, 101, 'job.failed', '1:1', '{}');
    INSERT INTO forums (id, name, kind, base_url) VALUES (101, 'with threads', 'phpbb', 'https://forum.example');
    INSERT INTO watched_threads (forum_id, external_id) VALUES (101, '3');
    CREATE TABLE job_schedules (id serial PRIMARY KEY, job_name text);
    CREATE TABLE dispensary_crawl_jobs (id serial PRIMARY KEY);";

/// Operations that the state of a thing forbids: the operation, its status, the thing's number and the body.
pub const REFUSED: [(&str, u16, i64, &str); 35] = [
    ("DELETE /api/groups/{group}", 409, 103, ""),
    ("DELETE /api/jobs/{id}", 409, 112, ""),
    ("DELETE /api/stores/{id}", 409, 4000, ""),
    ("DELETE /api/stores/{id}/retailer", 409, 4002, ""),
    ("DELETE /api/tasks/{id}", 409, 102, ""),
    ("GET /api/tasks/migration/status", 409, ID, ""),
    ("POST /api/groups/{group}/stores", 409, 103, r#"{"add": [4000]}"#),
    ("POST /api/jobs/{id}/cancel", 409, 111, ""),
    ("POST /api/jobs/{id}/retry", 409, 111, ""),
    ("DELETE /api/media/credentials/{id}", 409, 101, ""),
    ("DELETE /api/media/forums/{id}", 409, 101, ""),
    ("POST /api/media/endpoints/{id}/test", 409, 101, ""),
    ("POST /api/notifications/{id}/resend", 409, 101, ""),
    ("POST /api/media/credentials", 409, ID, r#"{"name": "a", "platform": "b", "kind": "token", "secret": "s"}"#),
    ("PUT /api/media/credentials/{id}", 409, 101, r#"{"secret": "s"}"#),
    ("PUT /api/media/change_rules/{id}", 409, 101, r#"{"name": "taken"}"#),
    ("PUT /api/media/rules/{id}", 409, 101, r#"{"events": ["job.completed"]}"#),
    ("POST /api/pauses", 409, ID, r#"{"scope": "all", "reason": "closed"}"#),
    ("POST /api/proxies/{id}/test", 409, 101, ""),
    ("POST /api/retailer-decisions", 409, ID, r#"{"stores": [4000, 4001], "is_same": false}"#),
    ("POST /api/schedules/{id}/trigger", 409, 102, ""),
    ("POST /api/stores/{id}/accept", 409, 4000, ""),
    ("POST /api/stores/{id}/accept-empty", 409, 4000, ""),
    ("POST /api/tasks/migration/cancel-pending-crawl-jobs", 409, ID, ""),
    ("POST /api/tasks/migration/disable-old-schedules", 409, ID, ""),
    ("POST /api/tasks/{id}/cancel", 409, 101, ""),
    ("POST /api/tasks/{id}/retry", 409, 101, ""),
    ("POST /api/worker-registry/{id}/pause", 409, 101, ""),
    ("PUT /api/groups/{group}", 409, 103, r#"{"name": "group-104"}"#),
    ("PUT /api/jobs/{id}", 409, 111, r#"{"priority": 3}"#),
    ("PUT /api/schedules/{id}", 409, 102, r#"{"name": "taken"}"#),
    ("PUT /api/schedules/{id}", 412, 101, r#"{"priority": 3}"#),
    ("PUT /api/stores/{id}", 409, 4000, r#"{"platform_dispensary_id": "taken"}"#),
    ("PUT /api/tasks/{id}", 409, 101, r#"{"priority": 3}"#),
    ("PUT /api/tasks/{id}", 412, 103, r#"{"priority": 3}"#),
];

/// Requests that wait while another transaction makes tasks of the role, adds stores, or holds the schedule.
pub const LOCKED: [(&str, i64, &str); 7] = [
    ("POST /api/tasks/migration/create-resync-tasks", ID, "SELECT lock_generation('payload_fetch')"),
    ("POST /api/tasks/migration/full-migrate", ID, "SELECT lock_generation('payload_fetch')"),
    ("POST /api/tasks/generate/resync", ID, "SELECT lock_generation('payload_fetch')"),
    ("POST /api/job-queue/enqueue-state", ID, "SELECT lock_generation('payload_fetch')"),
    ("POST /api/jobs/import", ID, "LOCK TABLE imported_jobs IN SHARE ROW EXCLUSIVE MODE"),
    ("POST /api/stores/import", ID, "LOCK TABLE dispensaries IN SHARE ROW EXCLUSIVE MODE"),
    ("DELETE /api/schedules/{id}", 101, "SELECT FROM task_schedules WHERE id = 101 FOR UPDATE"),
];

/// Operations that ask nothing of the database once their caller is known.
pub const WITHOUT_DATABASE: [&str; 9] = [
    "DELETE /api/session",
    "GET /api/config",
    "GET /api/events",
    "GET /api/geo/{ip}",
    "GET /api/session",
    "GET /api/worker-registry/roles",
    "GET /api/workers/k8s/replicas",
    "GET /metrics",
    "POST /api/session",
];

/// Statement after which no statement finds its tables and views.
pub const RENAME_TABLES: &str = "DO $$
    DECLARE name text;
    BEGIN
      FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public'
                  UNION ALL SELECT viewname FROM pg_views WHERE schemaname = 'public' LOOP
        EXECUTE format('ALTER TABLE %I RENAME TO %I', name, 'lost_' || name);
      END LOOP;
    END $$";
