-- payloads/counts_between.sql: counts of the crawls of a store fetched after $2 and up to $3, oldest first.
-- $1 store, $4 at most
SELECT product_count, total_count
  FROM raw_crawl_payloads
 WHERE dispensary_id = $1 AND fetched_at > $2 AND fetched_at <= $3
 ORDER BY fetched_at
 LIMIT $4;
