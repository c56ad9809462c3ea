-- payloads/expendable.sql: number and bytes of the payloads of $1 that nothing needs.
SELECT count(*) AS files, coalesce(sum(bytes), 0)::bigint AS bytes
  FROM raw_crawl_payloads
 WHERE id = ANY ($1)
   AND NOT is_payload_needed(id, dispensary_id, fetched_at);
