-- payload_replays/count.sql: number of payloads still to come. $1 and $2 time and id of the last one, $3
-- fetched before, $4 stores or null
SELECT count(*)
  FROM raw_crawl_payloads p
 WHERE (p.fetched_at, p.id) > ($1, $2)
   AND p.fetched_at < $3
   AND ($4::bigint[] IS NULL OR p.dispensary_id = ANY ($4));
