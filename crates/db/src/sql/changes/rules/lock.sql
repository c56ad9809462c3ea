-- changes/rules/lock.sql: a rule with its place in the feed; no row where another process is at work on it. $1 its id
SELECT to_jsonb(r) AS rule, r.enabled AND e.enabled AS is_enabled, i.id::text AS installation, coalesce(r.seq, f.newest) AS seq,
       CASE WHEN r.seq IS NULL THEN 2147483647 ELSE r.n END AS n
  FROM change_rules r
  JOIN notification_endpoints e ON e.id = r.endpoint_id
 CROSS JOIN change_feed f
 CROSS JOIN installation i
 WHERE r.id = $1
   FOR NO KEY UPDATE OF r SKIP LOCKED;
