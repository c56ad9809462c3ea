-- Which tasks: the conditions of the other statements of this folder. A null filters nothing; a cast gives
-- each value its type. $lease_expired: whether the lease must have run out. $created_after and
-- $created_before: ids follow these times but for minutes. $below and $from: bounds of the ids. $q: how
-- an id, a worker's id or a store's slug begins. $error_pattern: by it an index of trigrams finds what
-- $error, a part of the text, finds.
($statuses::text[] IS NULL OR t.status = ANY ($statuses))
     AND ($lease_expired::bool IS NULL OR ((t.lease_expires_at > now()) IS NOT TRUE) = $lease_expired)
     AND ($role::text IS NULL OR t.role = $role)
     AND ($roles::text[] IS NULL OR t.role = ANY ($roles))
     AND ($dispensary_id::int8 IS NULL OR t.dispensary_id = $dispensary_id)
     AND ($platform::text IS NULL OR t.platform = $platform)
     AND ($worker_id::text IS NULL OR t.worker_id = $worker_id)
     AND ($created_after::timestamptz IS NULL OR t.created_at >= $created_after
          AND t.id >= (SELECT task_id_at($created_after - interval '1 hour')))
     AND ($created_before::timestamptz IS NULL OR t.created_at < $created_before
          AND t.id < (SELECT task_id_at($created_before + interval '1 hour')))
     AND ($below::int8 IS NULL OR t.id < $below)
     AND ($ids::int8[] IS NULL OR t.id = ANY ($ids))
     AND ($schedule_id::int8 IS NULL OR t.schedule_id = $schedule_id)
     AND ($parent_task_id::int8 IS NULL OR t.parent_task_id = $parent_task_id)
     AND ($error::text IS NULL OR t.error_message IS NOT NULL AND strpos(lower(t.error_message), lower($error)) > 0)
     AND ($min_retries::int4 IS NULL OR t.retry_count >= $min_retries)
     AND ($from::int8 IS NULL OR t.id >= $from)
     AND ($worker_pattern::text IS NULL OR t.worker_id LIKE $worker_pattern)
     AND ($stores::int8[] IS NULL OR t.dispensary_id = ANY ($stores))
     AND ($q::text IS NULL OR starts_with(t.id::text, $q) OR starts_with(t.worker_id, $q)
          OR t.dispensary_id IN (SELECT d.id FROM dispensaries d WHERE starts_with(d.slug, $q)))
     AND ($error_pattern::text IS NULL OR lower(t.error_message) LIKE lower($error_pattern))
