-- How many tasks list.sql would show in all, and how many of them have one of the statuses $20. $1 to $19 as in filters.sql
SELECT count(*) AS matched, count(*) FILTER (WHERE t.status = ANY ($20)) AS eligible
  FROM worker_tasks t
 WHERE {filters}
