-- Tasks for display, by age. Planned for its values, so that each filter finds its index: ended tasks,
-- millions of them, have one for each filter (indexes/), pending and active ones one by id
WITH page AS MATERIALIZED (
  (SELECT * FROM worker_tasks t
    WHERE t.status IN ('completed', 'failed', 'cancelled') AND {tasks/views/filters.sql}
    ORDER BY t.id {direction} LIMIT $limit)
  UNION ALL
  (SELECT * FROM worker_tasks t
    WHERE t.status = 'pending' AND {tasks/views/filters.sql}
    ORDER BY t.id {direction} LIMIT $limit)
  UNION ALL
  (SELECT * FROM worker_tasks t
    WHERE t.status IN ('claimed', 'running') AND {tasks/views/filters.sql}
    ORDER BY t.id {direction} LIMIT $limit)
)
SELECT {tasks/views/columns.sql}
  FROM page t
  LEFT JOIN dispensaries d ON d.id = t.dispensary_id
  LEFT JOIN worker_registry w ON w.worker_id = t.worker_id
 ORDER BY t.id {direction}
 LIMIT $limit
