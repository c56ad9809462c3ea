-- media_items/end.sql: writes how an attempt to download an item ended. $1 id, $2 state, $3 reason, $4 digest,
-- $5 path, $6 bytes, $7 media type, $8 width, $9 height, $10 milliseconds
WITH file AS (
  INSERT INTO media_files (sha256, path, bytes, media_type, width, height, duration_ms)
  SELECT $4::text, $5, $6, $7, $8, $9, $10 WHERE $4::text IS NOT NULL
      ON CONFLICT (sha256) DO NOTHING)
UPDATE media_items
   SET state = $2, last_error = $3, sha256 = $4::text, attempts = attempts + 1, updated_at = now(),
       downloaded_at = CASE WHEN $4::text IS NOT NULL THEN now() END
 WHERE id = $1 AND state <> 'downloaded'
