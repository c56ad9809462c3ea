-- Which tasks: what stands for {filters} in the statements of this folder. A null filters nothing. $1 stored statuses, $2 whether the lease
-- must have run out, $3 role, $4 roles, $5 store, $6 platform, $7 worker, $8 and $9 created from and before (ids follow these times but for
-- minutes), $10 ids below this, $11 just these ids, $12 schedule, $13 parent, $14 a part of the error, $15 least retries, $16 least id,
-- $17 pattern of the worker's id, $18 stores, $19 how an id, a worker's id or a store's slug begins, $20 pattern that an index of trigrams
-- finds of $14
($1 IS NULL OR t.status = ANY ($1))
     AND ($2 IS NULL OR ((t.lease_expires_at > now()) IS NOT TRUE) = $2)
     AND ($3 IS NULL OR t.role = $3)
     AND ($4 IS NULL OR t.role = ANY ($4))
     AND ($5 IS NULL OR t.dispensary_id = $5)
     AND ($6 IS NULL OR t.platform = $6)
     AND ($7 IS NULL OR t.worker_id = $7)
     AND ($8 IS NULL OR t.created_at >= $8 AND t.id >= (SELECT task_id_at($8 - interval '1 hour')))
     AND ($9 IS NULL OR t.created_at < $9 AND t.id < (SELECT task_id_at($9 + interval '1 hour')))
     AND ($10 IS NULL OR t.id < $10)
     AND ($11 IS NULL OR t.id = ANY ($11))
     AND ($12 IS NULL OR t.schedule_id = $12)
     AND ($13 IS NULL OR t.parent_task_id = $13)
     AND ($14 IS NULL OR t.error_message IS NOT NULL AND strpos(lower(t.error_message), lower($14)) > 0)
     AND ($15 IS NULL OR t.retry_count >= $15)
     AND ($16 IS NULL OR t.id >= $16)
     AND ($17 IS NULL OR t.worker_id LIKE $17)
     AND ($18 IS NULL OR t.dispensary_id = ANY ($18))
     AND ($19 IS NULL OR starts_with(t.id::text, $19) OR starts_with(t.worker_id, $19)
          OR t.dispensary_id IN (SELECT d.id FROM dispensaries d WHERE starts_with(d.slug, $19)))
     AND ($20 IS NULL OR lower(t.error_message) LIKE lower($20))
