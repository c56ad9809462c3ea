-- media/accounts/files_of_task.sql: the number of an account's files that the runs of a task brought, this one and those before.
-- $1 account, $2 task
WITH task AS MATERIALIZED (
  SELECT min(claimed_at) AS began_at
    FROM (SELECT claimed_at FROM worker_tasks WHERE id = $2
          UNION ALL
          SELECT claimed_at FROM task_attempts WHERE task_id = $2) run)
SELECT count(*)
  FROM (SELECT i.id
          FROM media_items i, task
         WHERE i.account_id = $1 AND i.kind = 'file' AND i.state = 'downloaded' AND i.downloaded_at >= task.began_at
         UNION
        SELECT shared.item_id
          FROM media_shared_items shared, task
         WHERE shared.account_id = $1 AND shared.brought_at >= task.began_at) brought
