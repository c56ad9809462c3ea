-- media_items/list.sql: items for display, by age. $1 id, $2 source, $3 state, $4 account, $5 after this id; NULL filters
-- nothing. At most $6. Times are cut to what Rust can read; a picture that no decoder takes has no image path.
SELECT i.id, i.source, i.source_id, i.account_id, i.kind, i.url, i.title, json_time(i.posted_at) AS posted_at, i.state, i.attempts,
       i.last_error, i.sha256, f.path,
       CASE WHEN f.media_type IN ('image/gif', 'image/jpeg', 'image/png', 'image/webp') AND f.bytes <= 20971520 THEN f.path
       END AS local_image_path,
       f.bytes, f.media_type, f.width, f.height, f.duration_ms, i.metadata,
       json_time(i.created_at) AS created_at, json_time(i.downloaded_at) AS downloaded_at
  FROM media_items i
  LEFT JOIN media_files f USING (sha256)
 WHERE ($1::bigint IS NULL OR i.id = $1)
   AND ($2::text IS NULL OR i.source = $2)
   AND ($3::text IS NULL OR i.state = $3)
   AND ($4::bigint IS NULL OR i.account_id = $4)
   AND ($5::bigint IS NULL OR i.id {beyond} $5)
 ORDER BY i.id {direction}
 LIMIT $6
