-- payloads/expendable.sql: how many of the payloads $1 nothing needs, and their bytes.
SELECT count(*) AS files, coalesce(sum(bytes), 0)::bigint AS bytes
  FROM raw_crawl_payloads
 WHERE id = ANY ($1)
   AND NOT is_payload_needed(id, dispensary_id, fetched_at);
