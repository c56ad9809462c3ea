-- media/items/end.sql: writes how an attempt to download an item ended.
WITH file AS (
  INSERT INTO media_files (sha256, path, bytes, media_type, width, height, duration_ms)
  SELECT $sha256::text, $path, $bytes, $media_type, $width, $height, $duration_ms WHERE $sha256::text IS NOT NULL
      ON CONFLICT (sha256) DO NOTHING)
UPDATE media_items
   SET state = $state, last_error = $reason, sha256 = $sha256::text, attempts = attempts + 1, updated_at = now(),
       downloaded_at = CASE WHEN $sha256::text IS NOT NULL THEN now() END
 WHERE id = $id AND state <> 'downloaded'
