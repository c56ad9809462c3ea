-- Events of the crawl on their way to notifications. docs/notifications.md explains them.

-- Faults of the whole crawl: no proxy that a crawl may use, and pauses that last.
CREATE OR REPLACE VIEW crawl_faults AS
SELECT 'proxies.unusable' AS event, '' AS subject, interval '1 minute' AS patience,
       jsonb_build_object('proxies', count(*), 'detail', CASE count(*) WHEN 0 THEN 'no proxy is switched on' ELSE 'all proxies are benched' END) AS detail
  FROM proxies p
 WHERE p.is_active OR p.cooldown_until IS NOT NULL
HAVING count(*) FILTER (WHERE p.is_active AND NOT EXISTS (
                          SELECT FROM proxy_benches b
                           WHERE b.proxy_id = p.id AND b.until > clock_timestamp() AND NOT b.is_best_effort)) = 0
   AND EXISTS (SELECT FROM dispensaries d WHERE d.crawl_enabled)
 UNION ALL
SELECT 'pause.long', p.id::text, interval '0',
       jsonb_build_object('scope', p.scope, 'target', left(p.target, 200), 'store_id', p.dispensary_id, 'store', left(d.name, 200),
                          'detail', left(p.reason, 500), 'since', p.created_at, 'until', p.until, 'by', left(p.created_by, 200))
  FROM pauses_in_force p
  LEFT JOIN dispensaries d ON d.id = p.dispensary_id
 WHERE p.created_at < clock_timestamp() - interval '4 hours';

-- Notes faults that last; returns their number. One that ends and comes back is another one.
CREATE OR REPLACE FUNCTION note_crawl_faults() RETURNS bigint LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET jit = off
SET lock_timeout = '1s' AS $f$
DECLARE
  noted bigint;
BEGIN
  DELETE FROM crawl_conditions c WHERE NOT EXISTS (SELECT FROM crawl_faults f WHERE f.event = c.event AND f.subject = c.subject);
  INSERT INTO crawl_conditions (event, subject) SELECT f.event, f.subject FROM crawl_faults f ON CONFLICT DO NOTHING;
  WITH lasting AS (
    UPDATE crawl_conditions c SET is_noted = true
      FROM crawl_faults f
     WHERE f.event = c.event AND f.subject = c.subject AND NOT c.is_noted AND c.since <= clock_timestamp() - f.patience
    RETURNING f.event, f.detail)
  SELECT count(*) INTO noted FROM (SELECT note_crawl_event(l.event, NULL, l.detail) FROM lasting l) n;
  RETURN noted;
END $f$;

-- Makes one notification of the events of each kind that a rule has waiting: at once, or an hour or a day after its last one. Events whose
-- details exceed 16 KiB together are counted alone. Returns the number of rules.
CREATE OR REPLACE FUNCTION gather_crawl_events(batch int) RETURNS bigint LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET jit = off
SET lock_timeout = '100ms' AS $f$
DECLARE
  rule notification_rules;
  gathered bigint := 0;
BEGIN
  FOR rule IN
    SELECT r.*
      FROM notification_rules r
      JOIN notification_endpoints e ON e.id = r.endpoint_id
     WHERE e.enabled
       AND (r.digested_at IS NULL OR r.digested_at <= now() - CASE r.digest WHEN 'hourly' THEN interval '1 hour'
                                                                           WHEN 'daily' THEN interval '1 day' ELSE interval '0' END)
       AND EXISTS (SELECT FROM crawl_events c WHERE c.rule_id = r.id)
     ORDER BY r.id
     LIMIT batch
       FOR NO KEY UPDATE OF r SKIP LOCKED
  LOOP
    WITH taken AS (
      DELETE FROM crawl_events c
       WHERE c.id = ANY (ARRAY (SELECT w.id FROM crawl_events w WHERE w.rule_id = rule.id ORDER BY w.id LIMIT 10000))
      RETURNING c.id, c.event, c.detail, c.created_at
    ), measured AS (
      SELECT t.*, sum(octet_length(t.detail::text) + 2) OVER (PARTITION BY t.event ORDER BY t.id) <= 16384 AS is_shown FROM taken t)
    INSERT INTO notifications (endpoint_id, event, subject, body)
    SELECT rule.endpoint_id, m.event, format('rule %s:%s', rule.id, min(m.id)),
           jsonb_build_object('count', count(*), 'first_at', min(m.created_at), 'last_at', max(m.created_at),
                              'events', jsonb_agg(m.detail ORDER BY m.id) FILTER (WHERE m.is_shown), 'is_cut', NOT bool_and(m.is_shown))
      FROM measured m
     GROUP BY m.event
     ORDER BY min(m.id);
    UPDATE notification_rules SET digested_at = now() WHERE id = rule.id;
    PERFORM make_notify_tasks(ARRAY[rule.endpoint_id]);
    gathered := gathered + 1;
  END LOOP;
  RETURN gathered;
END $f$;
