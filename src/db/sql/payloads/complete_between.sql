-- payloads/complete_between.sql: how many complete crawls of a store were fetched after $2 and up to $3. $1 store, $4 coverage asked for
SELECT count(*)
  FROM raw_crawl_payloads
 WHERE dispensary_id = $1 AND fetched_at > $2 AND fetched_at <= $3
   AND product_count > 0 AND (total_count - product_count <= 1 OR coverage >= $4);      -- Payload::is_complete
