-- Number of tasks that list.sql would show in all, and of the ones among them that have one of the statuses $eligible.
SELECT count(*) AS matched, count(*) FILTER (WHERE m.status = ANY ($eligible::text[])) AS eligible
  FROM (
    SELECT t.status FROM worker_tasks t WHERE t.status IN ('completed', 'failed', 'cancelled') AND {tasks/views/filters.sql}
    UNION ALL
    SELECT t.status FROM worker_tasks t WHERE t.status = 'pending' AND {tasks/views/filters.sql}
    UNION ALL
    SELECT t.status FROM worker_tasks t WHERE t.status IN ('claimed', 'running') AND {tasks/views/filters.sql}
  ) m
