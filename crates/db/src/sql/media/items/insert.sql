-- media/items/insert.sql: adds the items that are not known; returns them. $1 items as a list of JSON
INSERT INTO media_items (source, source_id, kind, url, referer, title, posted_at, metadata)
SELECT source, source_id, kind, url, referer, title, posted_at, metadata
  FROM jsonb_to_recordset($1) AS new (source text, source_id text, kind text, url text, referer text, title text,
                                      posted_at timestamptz, metadata jsonb)
 ORDER BY source, source_id
    ON CONFLICT (source, source_id) DO NOTHING
RETURNING id
