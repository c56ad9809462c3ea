-- media_accounts/files_of_task.sql: the number of an account's files that the runs of a task brought, this one and those before.
-- $1 account, $2 task
SELECT count(*)
  FROM media_account_items shown
  JOIN media_items i ON i.id = shown.item_id
 WHERE shown.account_id = $1 AND i.kind = 'file' AND i.state = 'downloaded'
   AND i.downloaded_at >= (SELECT min(claimed_at)
                           FROM (SELECT claimed_at FROM worker_tasks WHERE id = $2
                                 UNION ALL
                                 SELECT claimed_at FROM task_attempts WHERE task_id = $2) run)
