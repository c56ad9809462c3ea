-- Which of these are lost: another fence, no longer active, gone, or out of lease. $1 ids, $2 fences, $3 workers
SELECT held.id FROM unnest($1::bigint[], $2::bigint[], $3::text[]) AS held(id, fence, worker_id)
  LEFT JOIN worker_tasks t USING (id)
 WHERE t.id IS NULL OR t.fence <> held.fence OR t.worker_id IS DISTINCT FROM held.worker_id
    OR t.status NOT IN ('claimed', 'running') OR t.lease_expires_at <= clock_timestamp()
