-- For lists of tasks: the place of a time in the order of ids. Tasks get their ids and their created_at in nearly the same order.

-- The least id whose task was made at that time or later, as far as the ids follow the times; found by bisection. If every task is older,
-- an id that is greater than all.
CREATE OR REPLACE FUNCTION task_id_at(at timestamptz) RETURNS bigint LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET jit = off AS $f$
DECLARE
  low bigint := (SELECT t.id FROM worker_tasks t ORDER BY t.id LIMIT 1);
  high bigint := (SELECT t.id FROM worker_tasks t ORDER BY t.id DESC LIMIT 1);
  middle bigint;
  next_id bigint;
  made timestamptz;
BEGIN
  IF high IS NULL OR (SELECT t.created_at < at FROM worker_tasks t WHERE t.id = high) THEN RETURN 9223372036854775807; END IF;
  WHILE low < high LOOP
    middle := low / 2 + high / 2 + (low % 2 + high % 2) / 2;
    SELECT t.id, t.created_at INTO next_id, made FROM worker_tasks t WHERE t.id >= middle ORDER BY t.id LIMIT 1;
    IF made >= at THEN high := middle; ELSE low := next_id + 1; END IF;
  END LOOP;
  RETURN low;
END $f$;

-- An integer in a task's result, which may have been written by hand; 0 if the field is not a number.
CREATE OR REPLACE FUNCTION number_in(result jsonb, field text) RETURNS bigint LANGUAGE sql IMMUTABLE AS $f$
  SELECT CASE WHEN jsonb_typeof(result -> field) = 'number' THEN least(greatest((result ->> field)::numeric, 0), 1e9)::bigint ELSE 0 END
$f$;
