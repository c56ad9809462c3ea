-- payloads/aged.sql: payloads fetched before $1, in the order of their fetches. $2 and $3 time and id of the
-- last one, $4 at most
SELECT id, json_time(fetched_at) AS fetched_at
  FROM raw_crawl_payloads
 WHERE (raw_crawl_payloads.fetched_at, id) > ($2, $3)
   AND raw_crawl_payloads.fetched_at < $1
 ORDER BY raw_crawl_payloads.fetched_at, id
 LIMIT $4;
