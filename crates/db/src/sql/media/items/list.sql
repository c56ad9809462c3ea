-- media/items/list.sql: items for display, by age, after id $after; NULL filters nothing. Times are cut to what Rust can read; a picture
-- that no decoder takes has no image path.
SELECT i.id, i.source, i.source_id, i.account_id, i.kind, i.url, i.title, json_time(i.posted_at) AS posted_at, i.state, i.attempts,
       i.last_error, i.sha256, f.path,
       CASE WHEN f.media_type IN ('image/gif', 'image/jpeg', 'image/png', 'image/webp') AND f.bytes <= 20971520 THEN f.path
       END AS local_image_path,
       f.bytes, f.media_type, f.width, f.height, f.duration_ms, i.metadata,
       json_time(i.created_at) AS created_at, json_time(i.downloaded_at) AS downloaded_at
  FROM media_items i
  LEFT JOIN media_files f USING (sha256)
 WHERE ($id::bigint IS NULL OR i.id = $id)
   AND ($source::text IS NULL OR i.source = $source)
   AND ($state::text IS NULL OR i.state = $state)
   AND ($account_id::bigint IS NULL OR i.account_id = $account_id)
   AND ($after::bigint IS NULL OR i.id {beyond} $after)
 ORDER BY i.id {direction}
 LIMIT $limit
