-- The leases among these that are lost: another fence, no longer active, gone, or expired. $1 ids, $2 fences,
-- $3 workers
SELECT l.id
  FROM unnest($1::bigint[], $2::bigint[], $3::text[]) AS l(id, fence, worker_id)
  LEFT JOIN LATERAL (
       SELECT t.id
         FROM worker_tasks t
        WHERE t.id = l.id AND t.fence = l.fence AND t.worker_id = l.worker_id
          AND t.status IN ('claimed', 'running') AND t.lease_expires_at > clock_timestamp()
        LIMIT 1) held ON true
 WHERE held.id IS NULL
