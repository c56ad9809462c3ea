-- Tasks that a user or a program requests.

-- The tasks `specs` (as in enqueue_tasks) with the platforms of their stores, each with the reason why it cannot be made (as in
-- request_tasks), or null.
CREATE OR REPLACE FUNCTION checked_specs(specs jsonb) RETURNS TABLE (ord bigint, spec jsonb, refusal text, other text)
LANGUAGE sql STABLE AS $f$
  SELECT e.ord, CASE WHEN d.id IS NULL THEN e.spec ELSE e.spec || jsonb_build_object('platform', d.platform) END,
         CASE WHEN e.spec->>'dispensary_id' IS NOT NULL AND d.id IS NULL THEN 'no_store'
              WHEN e.spec->>'platform' <> d.platform THEN 'platform'
              WHEN missing.id IS NOT NULL THEN 'no_task' END,
         CASE WHEN e.spec->>'platform' <> d.platform THEN d.platform ELSE missing.id END
    FROM jsonb_array_elements(specs) WITH ORDINALITY AS e(spec, ord)
    LEFT JOIN dispensaries d ON d.id = (e.spec->>'dispensary_id')::bigint
    LEFT JOIN LATERAL (
         SELECT w.id FROM jsonb_array_elements_text(coalesce(e.spec->'depends_on', '[]')) AS w(id)
          WHERE NOT EXISTS (SELECT FROM worker_tasks t WHERE t.id = w.id::bigint)
          LIMIT 1) missing ON true
$f$;

-- Returns, for each of the tasks `specs` in their order, the place of the first task that does the same: the first one with its key, or, if
-- its key is that of its work, the first one for its work. Null for a task with a refusal.
CREATE OR REPLACE FUNCTION first_of_each(specs jsonb, works text[], refusals text[]) RETURNS bigint[] LANGUAGE sql STABLE AS $f$
  WITH keyed AS (
         SELECT s.ord, s.dedup_key AS key, works[s.ord] AS work, min(s.ord) OVER (PARTITION BY s.dedup_key) AS first_of_key
           FROM task_specs(specs, '{}') s
          WHERE refusals[s.ord] IS NULL),
       firsts AS (
         SELECT k.ord, CASE WHEN k.key <> k.work THEN k.first_of_key
                            ELSE min(k.ord) FILTER (WHERE k.ord = k.first_of_key) OVER (PARTITION BY k.work) END AS first
           FROM keyed k)
  SELECT array_agg(f.first ORDER BY o.ord)
    FROM generate_series(1, jsonb_array_length(specs)) AS o(ord)
    LEFT JOIN firsts f ON f.ord = o.ord
$f$;

-- Queues each of the tasks `specs` that is not open already. `specs` is as in enqueue_tasks, each with a dedup key; `works` are the keys of
-- their work: a task with another key may have a twin. Outcomes, in the order of the tasks: 'made'; 'raised' (`task_id` does the same,
-- waited, and is as urgent now); 'twin' (`task_id` does the same, or has the key); 'no_store'; 'platform' (that of its store is `other`);
-- 'no_task' (it would wait for the task `other`, which does not exist). If keys are taken faster than they are looked up:
-- serialization_failure, try again.
CREATE OR REPLACE FUNCTION request_tasks(specs jsonb, works text[]) RETURNS TABLE (task_id bigint, outcome text, other text)
LANGUAGE plpgsql
SET xmlbinary = hex SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET enable_sort = off SET jit = off SET lock_timeout = '1s' AS $f$
DECLARE
  max_tries CONSTANT int := 3;
  checked jsonb;
  refusals text[];
  others text[];
  firsts bigint[];
  tasks bigint[];   -- ids, by place in `specs`
  made bigint[];
  taken int := 0;   -- number of ids taken from `made`
  asked record;
BEGIN
  SELECT jsonb_agg(c.spec ORDER BY c.ord), array_agg(c.refusal ORDER BY c.ord), array_agg(c.other ORDER BY c.ord)
    INTO checked, refusals, others
    FROM checked_specs(specs) c;
  IF checked IS NULL THEN RETURN; END IF;
  firsts := first_of_each(checked, works, refusals);
  FOR try IN 1 .. max_tries LOOP
    tasks := ARRAY (
      SELECT CASE WHEN firsts[s.ord] IS DISTINCT FROM s.ord THEN NULL
                  WHEN s.dedup_key = works[s.ord]
                  THEN coalesce(open_twin(s.role, s.dispensary_id, s.platform, s.account, s.payload),
                                (SELECT t.id FROM worker_tasks t WHERE t.dedup_key = s.dedup_key))
                  ELSE (SELECT t.id FROM worker_tasks t WHERE t.dedup_key = s.dedup_key) END
        FROM task_specs(checked, '{}') s
       ORDER BY s.ord);
    BEGIN
      made := enqueue_tasks((SELECT coalesce(jsonb_agg(e.spec ORDER BY e.ord), '[]')
                               FROM jsonb_array_elements(checked) WITH ORDINALITY AS e(spec, ord)
                              WHERE firsts[e.ord] = e.ord AND tasks[e.ord] IS NULL));
      EXIT;
    EXCEPTION WHEN unique_violation THEN   -- a key was taken since it was looked up
      IF try = max_tries THEN
        RAISE serialization_failure USING MESSAGE = 'other tasks with the same keys are being queued; try again';
      END IF;
    END;
  END LOOP;
  FOR asked IN SELECT s.ord, s.priority, s.scheduled_for FROM task_specs(checked, '{}') s ORDER BY s.ord LOOP
    outcome := refusals[asked.ord];
    other := others[asked.ord];
    IF outcome IS NULL AND firsts[asked.ord] = asked.ord AND tasks[asked.ord] IS NULL THEN
      taken := taken + 1;
      tasks[asked.ord] := made[taken];
      outcome := 'made';
    END IF;
    task_id := tasks[firsts[firsts[asked.ord]]];
    IF outcome IS NULL THEN
      outcome := CASE WHEN raise_task(task_id, asked.priority, asked.scheduled_for) THEN 'raised' ELSE 'twin' END;
    END IF;
    RETURN NEXT;
  END LOOP;
END $f$;
