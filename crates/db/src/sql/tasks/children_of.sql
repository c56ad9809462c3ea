-- tasks/children_of.sql: the tasks that task $1 has waited for, in their order, deleted ones too
SELECT c.id, t.status, t.result, t.error_message
  FROM worker_tasks p
 CROSS JOIN LATERAL unnest(p.depends_on) WITH ORDINALITY AS c(id, ord)
  LEFT JOIN worker_tasks t ON t.id = c.id
 WHERE p.id = $1 AND p.awaits_children AND c.id IS NOT NULL   -- a person may write nulls
 ORDER BY c.ord
