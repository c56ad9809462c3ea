-- For each request an open task that does the same, as open_task.sql finds it for one; null = none. In their order. $1 roles, $2 stores or
-- nulls, $3 platforms or nulls, $4 payload_ids of their arguments or nulls
SELECT twin.id
  FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[]) WITH ORDINALITY AS r(role, store, platform, payload_id, ord)
  LEFT JOIN LATERAL (
       SELECT open.id
         FROM (
           SELECT t.id, t.platform, t.payload FROM worker_tasks t
            WHERE t.dispensary_id = r.store AND t.role = r.role
              AND (t.status = 'pending' AND t.ready OR t.status IN ('claimed', 'running'))
           UNION ALL
           SELECT t.id, t.platform, t.payload FROM worker_tasks t
            WHERE t.dispensary_id = r.store AND t.role = r.role AND t.status = 'pending' AND NOT t.ready
           UNION ALL
           SELECT t.id, t.platform, t.payload FROM worker_tasks t
            WHERE r.store IS NULL AND t.dispensary_id IS NULL AND t.role = r.role AND t.status = 'pending'
           UNION ALL
           SELECT t.id, t.platform, t.payload FROM worker_tasks t
            WHERE r.store IS NULL AND t.dispensary_id IS NULL AND t.role = r.role AND t.status IN ('claimed', 'running')
         ) open
        WHERE (r.platform IS NULL OR open.platform = r.platform OR open.platform IS NULL)
          AND open.payload->>'payload_id' IS NOT DISTINCT FROM r.payload_id
        ORDER BY open.id
        LIMIT 1) twin ON true
 ORDER BY r.ord
