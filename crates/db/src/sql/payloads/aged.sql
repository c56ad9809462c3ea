-- payloads/aged.sql: payloads fetched before $before, in the order of their fetches. $after_…: the last one of the page
-- before
SELECT id, json_time(fetched_at) AS fetched_at
  FROM raw_crawl_payloads
 WHERE (raw_crawl_payloads.fetched_at, id) > ($after_time, $after_id)
   AND raw_crawl_payloads.fetched_at < $before
 ORDER BY raw_crawl_payloads.fetched_at, id
 LIMIT $limit;
