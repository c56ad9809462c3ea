-- media/items/record.sql: items of an account that were found and tried at once, each with its end. $1 a list of JSON, $2 the account.
-- An item that has its file keeps it, unless another came. Its owner is the first account that showed it. An account that brings it
-- again shares it, and the owner's time of download stays.
WITH new AS MATERIALIZED (
  SELECT *
    FROM jsonb_to_recordset($1) AS new (source text, source_id text, kind text, url text, referer text, title text,
                                        posted_at timestamptz, metadata jsonb, state text, reason text, sha256 text, path text,
                                        bytes bigint, media_type text, width int, height int, duration_ms bigint)),
file AS (
  INSERT INTO media_files (sha256, path, bytes, media_type, width, height, duration_ms)
  SELECT DISTINCT ON (sha256) sha256, path, bytes, media_type, width, height, duration_ms
    FROM new
   WHERE sha256 IS NOT NULL
   ORDER BY sha256
      ON CONFLICT (sha256) DO NOTHING),
written AS (
  INSERT INTO media_items AS i (source, source_id, account_id, kind, url, referer, title, posted_at, metadata, state, last_error,
                                attempts, sha256, downloaded_at)
  SELECT source, source_id, $2, kind, url, referer, title, posted_at, metadata, state, reason, 1, sha256,
         CASE WHEN sha256 IS NOT NULL THEN now() END
    FROM new
   ORDER BY source, source_id
      ON CONFLICT (source, source_id) DO UPDATE
     SET account_id = coalesce(i.account_id, excluded.account_id), state = excluded.state, last_error = excluded.last_error,
         attempts = i.attempts + 1, sha256 = excluded.sha256, updated_at = now(),
         downloaded_at = CASE WHEN i.account_id <> excluded.account_id AND i.state = 'downloaded' THEN i.downloaded_at
                              ELSE excluded.downloaded_at
                         END
   WHERE i.state <> 'downloaded' OR excluded.state = 'downloaded'
  RETURNING id, account_id)
INSERT INTO media_shared_items (account_id, item_id)
SELECT $2, id
  FROM written
 WHERE account_id <> $2
 ORDER BY id
    ON CONFLICT (account_id, item_id) DO UPDATE
   SET brought_at = excluded.brought_at
