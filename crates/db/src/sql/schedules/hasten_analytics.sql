-- Makes the analytics due a minute, ten minutes and an hour after the first product, so that the first crawls are in them before the next due
-- time.
UPDATE task_schedules s
   SET next_run_at = now(), updated_at = now()
  FROM (SELECT p.first_seen_at FROM store_products p ORDER BY p.id LIMIT 1) AS first,
       unnest(ARRAY[interval '1 minute', '10 minutes', '1 hour']) AS age
 WHERE s.role = 'analytics_refresh' AND s.enabled AND s.next_run_at > now()
   AND s.last_run_at < first.first_seen_at + age AND first.first_seen_at + age <= now()
RETURNING s.name
