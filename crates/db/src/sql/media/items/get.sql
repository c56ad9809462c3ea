-- media/items/get.sql: items by their ids, for a download. $1 ids, $2 its task. One that has its file is over, and so is one
-- that this task found to be gone or refused.
SELECT i.id, i.source, i.kind, i.url, i.referer, a.platform, a.credential_id,
       i.state = 'downloaded'
       OR i.state IN ('gone', 'refused')
          AND i.updated_at >= coalesce((SELECT t.created_at FROM worker_tasks t WHERE t.id = $2), 'infinity') AS is_over
  FROM media_items i
  LEFT JOIN media_accounts a ON a.id = i.account_id
 WHERE i.id = ANY ($1)
 ORDER BY i.id
