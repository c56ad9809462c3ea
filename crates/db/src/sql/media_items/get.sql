-- media_items/get.sql: items by their ids, for a download. $1 ids, $2 its task. One that has its file is over, and so is one
-- that this task found to be gone or refused.
SELECT id, source, kind, url, referer,
       (SELECT a.credential_id FROM media_accounts a WHERE a.id = account_id) AS credential_id,
       state = 'downloaded'
       OR state IN ('gone', 'refused')
          AND updated_at >= coalesce((SELECT t.created_at FROM worker_tasks t WHERE t.id = $2), 'infinity') AS is_over
  FROM media_items
 WHERE id = ANY ($1)
 ORDER BY id
