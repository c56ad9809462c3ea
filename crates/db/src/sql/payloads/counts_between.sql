-- payloads/counts_between.sql: counts of the crawls of a store fetched after $from and up to $to, oldest first.
SELECT product_count, total_count
  FROM raw_crawl_payloads
 WHERE dispensary_id = $store AND fetched_at > $from AND fetched_at <= $to
 ORDER BY fetched_at
 LIMIT $limit;
