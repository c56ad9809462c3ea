-- payloads/expire.sql: deletes the locked payloads of $1 that nothing needs, and adds their files to
-- payload_removals. Returns their number and bytes.
WITH gone AS (
  DELETE FROM raw_crawl_payloads
   WHERE id = ANY ($1)
     AND NOT is_payload_needed(id, dispensary_id, fetched_at)
  RETURNING storage_path, bytes
),
noted AS (
  INSERT INTO payload_removals (storage_path, bytes)
  SELECT storage_path, bytes FROM gone
      ON CONFLICT DO NOTHING
)
SELECT count(*) AS files, coalesce(sum(bytes), 0)::bigint AS bytes FROM gone;
