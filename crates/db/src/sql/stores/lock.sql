-- stores/lock.sql: locks a store: no other transaction writes its products until this one ends, which also
-- pins its plans: they find rows by their keys, whatever the statistics say. $1 store
SELECT last_payload_id,
       -- a time ahead of the database's (after a fail-over to a slower clock) must not make later payloads
       -- count as older
       CASE WHEN last_payload_at <= clock_timestamp() THEN json_time(last_payload_at) ELSE 'epoch' END AS last_payload_at,
       CASE WHEN last_complete_at <= clock_timestamp() THEN json_time(last_complete_at) END AS last_complete_at,
       crawl_enabled, needs_baseline,
       -- an hour: one that failed at the time of that crawl may have been committed after it
       (last_crawl_at IS NULL
        OR EXISTS (SELECT FROM brand_image_failures WHERE failed_at > last_crawl_at - interval '1 hour')) AS has_failed_logos,
       (last_payload_at <= clock_timestamp() AND last_payload_id = hashed_payload_id) IS TRUE AS has_hashes,
       set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true),
       set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true), set_config('jit', 'off', true),
       set_config('xmlbinary', 'hex', true)   -- the products it writes agree with their hashes
  FROM dispensaries
 WHERE id = $1
   FOR UPDATE;
