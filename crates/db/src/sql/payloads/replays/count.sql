-- payloads/replays/count.sql: number of payloads still to come, after the last one and before $up_to. $stores may be null
SELECT count(*)
  FROM raw_crawl_payloads p
 WHERE (p.fetched_at, p.id) > ($fetched_at, $id)
   AND p.fetched_at < $up_to
   AND ($stores::bigint[] IS NULL OR p.dispensary_id = ANY ($stores));
