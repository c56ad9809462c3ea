-- Tasks that run now by a lease that has not run out: the longest-running first, the claimed ones last. $1: maximum number
SELECT id
  FROM worker_tasks
 WHERE status IN ('claimed', 'running') AND lease_expires_at > now()
 ORDER BY (status = 'claimed'), started_at NULLS LAST, id
 LIMIT $1
