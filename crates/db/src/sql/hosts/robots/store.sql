-- hosts/robots/store.sql: stores the answer of an authority: whether it answered, its file, or its failure $why; valid for
-- $seconds.
UPDATE robots
   SET rules = CASE WHEN $is_answer THEN $rules ELSE rules END,
       fetched_at = CASE WHEN $is_answer THEN now() ELSE fetched_at END,
       unreachable_since = CASE WHEN NOT $is_answer THEN coalesce(unreachable_since, now()) END,
       why = $why,
       next_fetch_at = now() + make_interval(secs => $seconds::float8),
       fetching_until = NULL
 WHERE authority = $authority;
