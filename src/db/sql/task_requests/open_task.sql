-- An open task that does the same. $1 role, $2 store or null, $3 platform or null, $4 payload_id of its arguments or null
SELECT open.id
  FROM (
    SELECT id, platform, payload FROM worker_tasks
     WHERE dispensary_id = $2 AND role = $1 AND (status = 'pending' AND ready OR status IN ('claimed', 'running'))
    UNION ALL
    SELECT id, platform, payload FROM worker_tasks
     WHERE dispensary_id = $2 AND role = $1 AND status = 'pending' AND NOT ready
    UNION ALL
    SELECT id, platform, payload FROM worker_tasks
     WHERE $2::bigint IS NULL AND dispensary_id IS NULL AND role = $1 AND status = 'pending'
    UNION ALL
    SELECT id, platform, payload FROM worker_tasks
     WHERE $2::bigint IS NULL AND dispensary_id IS NULL AND role = $1 AND status IN ('claimed', 'running')
  ) open
 WHERE ($3::text IS NULL OR open.platform = $3 OR open.platform IS NULL)
   AND open.payload->>'payload_id' IS NOT DISTINCT FROM $4
 ORDER BY open.id
 LIMIT 1
