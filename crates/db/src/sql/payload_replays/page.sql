-- payload_replays/page.sql: the next payloads in the order of their fetches. $1 and $2 time and id of the
-- last one, $3 fetched before, $4 stores or null, $5 at most
SELECT p.id, p.dispensary_id, p.platform, p.storage_path, p.bytes, json_time(p.fetched_at) AS fetched_at, d.crawl_enabled,
       EXISTS (SELECT FROM worker_tasks t
                WHERE t.dedup_key = 'product_refresh:' || p.dispensary_id || ':' || p.id) AS is_queued
  FROM raw_crawl_payloads p
  JOIN dispensaries d ON d.id = p.dispensary_id
 WHERE (p.fetched_at, p.id) > ($1, $2)
   AND p.fetched_at < $3
   AND ($4::bigint[] IS NULL OR p.dispensary_id = ANY ($4))
 ORDER BY p.fetched_at, p.id
 LIMIT $5;
