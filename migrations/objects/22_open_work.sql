-- Open tasks that do the same work as another task: its twins.

-- True if a task with this time is due within a span. A task whose time has passed, or that is active, is due now. `due_before` null: the
-- span has no end.
CREATE OR REPLACE FUNCTION is_due_within(scheduled_for timestamptz, due_from timestamptz, due_before timestamptz) RETURNS boolean
LANGUAGE sql STABLE AS $f$
  SELECT greatest(scheduled_for, now()) >= due_from AND (due_before IS NULL OR greatest(scheduled_for, now()) < due_before)
$f$;

-- The id of an open task that does the same work and is due within a span; null if there is none. The same work has the same role, and the
-- same store and payload; without a store, the same platform, account and arguments, of which the state is one. With `args` null, any
-- arguments match. Each kind of open task is found by the partial index that holds just that kind, which the ORDER BY selects: one index of
-- them all would cost every claim, and other indexes that admit the row would be scanned from end to end.
CREATE OR REPLACE FUNCTION open_twin(of_role text, store bigint, of_platform text, of_account text, args jsonb,
                                     due_from timestamptz DEFAULT '-infinity', due_before timestamptz DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql STABLE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET jit = off AS $f$
DECLARE twin bigint;
BEGIN
  IF store IS NOT NULL THEN
    SELECT min(o.id) INTO twin
      FROM ((SELECT t.id, t.payload, NULL::timestamptz AS scheduled_for FROM worker_tasks t
              WHERE t.dispensary_id = store AND t.role = of_role
                AND (t.status = 'pending' AND t.ready OR t.status IN ('claimed', 'running')))
            UNION ALL
            (SELECT t.id, t.payload, t.scheduled_for FROM worker_tasks t
              WHERE t.dispensary_id = store AND t.role = of_role AND t.status = 'pending' AND NOT t.ready AND NOT t.blocked
              ORDER BY t.priority DESC, t.id)
            UNION ALL
            (SELECT t.id, t.payload, t.scheduled_for FROM worker_tasks t
              WHERE t.dispensary_id >= store AND t.dispensary_id <= store AND t.role = of_role AND t.status = 'pending' AND t.blocked
              ORDER BY t.dispensary_id, t.role)) o
     WHERE (args IS NULL OR o.payload->>'payload_id' IS NOT DISTINCT FROM args->>'payload_id')
       AND is_due_within(o.scheduled_for, due_from, due_before);
  ELSE
    SELECT min(o.id) INTO twin
      FROM ((SELECT t.id, t.platform, t.account, t.payload, NULL::timestamptz AS scheduled_for FROM worker_tasks t
              WHERE t.status = 'pending' AND t.ready AND t.role >= of_role AND t.role <= of_role AND t.dispensary_id IS NULL
              ORDER BY t.role, t.priority DESC, t.id)
            UNION ALL
            (SELECT t.id, t.platform, t.account, t.payload, NULL::timestamptz FROM worker_tasks t
              WHERE t.status IN ('claimed', 'running') AND t.role = of_role AND t.dispensary_id IS NULL
              ORDER BY t.id)
            UNION ALL
            (SELECT t.id, t.platform, t.account, t.payload, t.scheduled_for FROM worker_tasks t
              WHERE t.status = 'pending' AND NOT t.ready AND NOT t.blocked AND t.dispensary_id IS NULL AND t.role = of_role
              ORDER BY t.dispensary_id, t.priority DESC, t.id)
            UNION ALL
            (SELECT t.id, t.platform, t.account, t.payload, t.scheduled_for FROM worker_tasks t
              WHERE t.status = 'pending' AND t.blocked AND t.dispensary_id IS NULL AND t.role = of_role
              ORDER BY t.dispensary_id, t.role)) o
     WHERE o.platform IS NOT DISTINCT FROM of_platform AND o.account IS NOT DISTINCT FROM of_account
       AND (args IS NULL OR jsonb_strip_nulls(o.payload) = jsonb_strip_nulls(args))
       AND is_due_within(o.scheduled_for, due_from, due_before);
  END IF;
  RETURN twin;
END $f$;

DROP FUNCTION IF EXISTS open_twin(text, bigint, text, text, jsonb);

-- The dedup key of a task without a store: only one open job may do the same work, that is, have the same type, platform and account, and
-- the same value of the argument that tells such jobs apart. Without an account, the one that the arguments name counts. A service has one
-- task for each account that its arguments name. Null for a crawl.
CREATE OR REPLACE FUNCTION job_key(job_type text, platform text, account text, args jsonb) RETURNS text LANGUAGE sql STABLE AS $f$
  SELECT CASE k.family
         WHEN 'media' THEN concat_ws(':', k.name, coalesce(platform, ''), coalesce(account, args ->> k.account_arg, ''),
                                     md5(nullif(args -> k.key_arg, 'null')::text))
         WHEN 'service' THEN concat_ws(':', k.name, args ->> k.account_arg) END
    FROM task_kinds k WHERE k.name = job_type
$f$;
