-- The tables of the older schema, where a database still holds them: job_schedules, dispensary_crawl_jobs, job_run_logs. Of their columns
-- only enabled and status are sure to be there.

-- Which of them there are.
CREATE OR REPLACE FUNCTION legacy_tables() RETURNS text[] LANGUAGE sql STABLE AS $f$
  SELECT array_agg(t.name ORDER BY t.name)
    FROM unnest(ARRAY['dispensary_crawl_jobs', 'job_run_logs', 'job_schedules']) AS t (name)
   WHERE to_regclass(t.name) IS NOT NULL
$f$;

-- Rows by the words of a column, as {"pending": 3}; null where the table is absent.
CREATE OR REPLACE FUNCTION legacy_counts(legacy_table text, by_column text) RETURNS jsonb LANGUAGE plpgsql STABLE AS $f$
DECLARE counts jsonb;
BEGIN
  IF to_regclass(legacy_table) IS NULL THEN RETURN NULL; END IF;
  EXECUTE format('SELECT coalesce(jsonb_object_agg(word, n), ''{}'') FROM (SELECT coalesce(%I::text, ''null'') AS word, count(*) AS n
                    FROM %I GROUP BY 1) AS counted', by_column, legacy_table) INTO counts;
  RETURN counts;
END $f$;

-- Switches the old schedules off; returns how many were on.
CREATE OR REPLACE FUNCTION disable_legacy_schedules() RETURNS int LANGUAGE plpgsql AS $f$
DECLARE touched int := 0;
BEGIN
  IF to_regclass('job_schedules') IS NOT NULL THEN
    UPDATE job_schedules SET enabled = false WHERE enabled;
    GET DIAGNOSTICS touched = ROW_COUNT;
  END IF;
  RETURN touched;
END $f$;

-- Ends rows of an old table that are in old_status: the first of new_words that its checks take is their status, and the time of their
-- end and a reason are noted where it has such columns. Returns how many.
CREATE OR REPLACE FUNCTION end_legacy_rows(legacy_table text, old_status text, new_words text[], reason text) RETURNS int LANGUAGE plpgsql AS $f$
DECLARE
  word text;
  also text;
  touched int := 0;
BEGIN
  IF to_regclass(legacy_table) IS NULL THEN RETURN 0; END IF;
  SELECT coalesce(string_agg(CASE WHEN a.attname = 'error_message' THEN ', error_message = $3' ELSE format(', %I = now()', a.attname) END, ''), '')
    INTO also
    FROM pg_attribute a
   WHERE a.attrelid = to_regclass(legacy_table) AND NOT a.attisdropped
     AND a.attname IN ('completed_at', 'finished_at', 'updated_at', 'error_message');
  FOREACH word IN ARRAY new_words LOOP
    BEGIN
      EXECUTE format('UPDATE %I SET status = $1%s WHERE status = $2', legacy_table, also) USING word, old_status, reason;
      GET DIAGNOSTICS touched = ROW_COUNT;
      RETURN touched;
    EXCEPTION WHEN check_violation OR invalid_text_representation THEN
      NULL; -- the next word
    END;
  END LOOP;
  RAISE check_violation USING MESSAGE = format('%s takes none of the words %s', legacy_table, array_to_string(new_words, ', '));
END $f$;

-- Cancels the old crawl jobs that wait; returns how many.
CREATE OR REPLACE FUNCTION cancel_legacy_crawl_jobs() RETURNS int LANGUAGE sql AS $f$
  SELECT end_legacy_rows('dispensary_crawl_jobs', 'pending', ARRAY['cancelled', 'canceled', 'failed'], 'moved to worker_tasks')
$f$;

-- Closes the old job runs that no process works on any more; returns how many.
CREATE OR REPLACE FUNCTION close_legacy_runs() RETURNS int LANGUAGE sql AS $f$
  SELECT end_legacy_rows('job_run_logs', 'running', ARRAY['failed', 'error'], 'its process has ended')
$f$;
