-- robots/store.sql: stores the answer of authority $1: whether it answered $2, its file $3, or its failure
-- $4; valid for $5 seconds.
UPDATE robots
   SET rules = CASE WHEN $2 THEN $3 ELSE rules END,
       fetched_at = CASE WHEN $2 THEN now() ELSE fetched_at END,
       unreachable_since = CASE WHEN NOT $2 THEN coalesce(unreachable_since, now()) END,
       why = $4,
       next_fetch_at = now() + make_interval(secs => $5::float8),
       fetching_until = NULL
 WHERE authority = $1;
