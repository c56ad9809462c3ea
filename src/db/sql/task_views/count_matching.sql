-- How many tasks list.sql would show in all, and how many of them have one of the statuses $21. $1 to $20 as in filters.sql
SELECT count(*) AS matched, count(*) FILTER (WHERE m.status = ANY ($21)) AS eligible
  FROM (
    SELECT t.status FROM worker_tasks t WHERE t.status IN ('completed', 'failed', 'cancelled') AND {filters}
    UNION ALL
    SELECT t.status FROM worker_tasks t WHERE t.status = 'pending' AND {filters}
    UNION ALL
    SELECT t.status FROM worker_tasks t WHERE t.status IN ('claimed', 'running') AND {filters}
  ) m
