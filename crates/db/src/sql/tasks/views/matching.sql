-- The ids of the tasks that list.sql would show, newest first
SELECT m.id
  FROM (
    (SELECT t.id FROM worker_tasks t
      WHERE t.status IN ('completed', 'failed', 'cancelled') AND {tasks/views/filters.sql}
      ORDER BY t.id DESC LIMIT $limit)
    UNION ALL
    (SELECT t.id FROM worker_tasks t
      WHERE t.status = 'pending' AND {tasks/views/filters.sql}
      ORDER BY t.id DESC LIMIT $limit)
    UNION ALL
    (SELECT t.id FROM worker_tasks t
      WHERE t.status IN ('claimed', 'running') AND {tasks/views/filters.sql}
      ORDER BY t.id DESC LIMIT $limit)
  ) m
 ORDER BY m.id DESC
 LIMIT $limit
