-- A task as people see it.
SELECT {tasks/views/columns.sql}
  FROM worker_tasks t
  LEFT JOIN dispensaries d ON d.id = t.dispensary_id
  LEFT JOIN worker_registry w ON w.worker_id = t.worker_id
 WHERE t.id = $id
