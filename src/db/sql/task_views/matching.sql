-- The ids of the tasks that list.sql would show, newest first. $1 to $19 as in filters.sql, $20 how many
SELECT t.id
  FROM worker_tasks t
 WHERE {filters}
 ORDER BY t.id DESC
 LIMIT $20
