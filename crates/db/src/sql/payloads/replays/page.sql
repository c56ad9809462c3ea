-- payloads/replays/page.sql: the next payloads in the order of their fetches, after the last one and before $up_to. $stores may
-- be null
SELECT p.id, p.dispensary_id, p.platform, p.storage_path, p.bytes, json_time(p.fetched_at) AS fetched_at, d.crawl_enabled,
       EXISTS (SELECT FROM worker_tasks t
                WHERE t.dedup_key = 'product_refresh:' || p.dispensary_id || ':' || p.id) AS is_queued
  FROM raw_crawl_payloads p
  JOIN dispensaries d ON d.id = p.dispensary_id
 WHERE (p.fetched_at, p.id) > ($fetched_at, $id)
   AND p.fetched_at < $up_to
   AND ($stores::bigint[] IS NULL OR p.dispensary_id = ANY ($stores))
 ORDER BY p.fetched_at, p.id
 LIMIT $limit;
