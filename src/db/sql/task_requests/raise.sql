-- Makes waiting tasks as urgent as requests for the same; returns those that were less urgent. $1 tasks, $2 priorities, $3 times or nulls
SELECT r.id
  FROM unnest($1::bigint[], $2::int[], $3::timestamptz[]) AS r(id, priority, scheduled_for)
 WHERE raise_task(r.id, r.priority, r.scheduled_for)
