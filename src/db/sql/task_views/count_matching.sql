-- How many tasks list.sql would show in all, and how many of them have one of the statuses $16. $1 to $15 as there
SELECT count(*) AS matched, count(*) FILTER (WHERE t.status = ANY ($16)) AS eligible
  FROM worker_tasks t
 WHERE ($1 IS NULL OR t.status = ANY ($1))
   AND ($2 IS NULL OR ((t.lease_expires_at > now()) IS NOT TRUE) = $2)
   AND ($3 IS NULL OR t.role = ANY ($3))
   AND ($4 IS NULL OR t.dispensary_id = $4)
   AND ($5 IS NULL OR t.platform = $5)
   AND ($6 IS NULL OR t.worker_id = $6)
   AND ($7 IS NULL OR starts_with(t.id::text, $7) OR starts_with(t.worker_id, $7)
        OR t.dispensary_id IN (SELECT id FROM dispensaries WHERE starts_with(slug, $7)))
   AND ($8 IS NULL OR t.created_at >= $8)
   AND ($9 IS NULL OR t.created_at < $9)
   AND ($10 IS NULL OR t.id < $10)
   AND ($11 IS NULL OR t.id = ANY ($11))
   AND ($12 IS NULL OR t.schedule_id = $12)
   AND ($13 IS NULL OR t.parent_task_id = $13)
   AND ($14 IS NULL OR strpos(lower(t.error_message), lower($14)) > 0)
   AND ($15 IS NULL OR t.retry_count >= $15)
