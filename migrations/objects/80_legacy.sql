-- The tables of the older schema, if a database still has them: job_schedules, dispensary_crawl_jobs, job_run_logs. The names and types of
-- their columns differ from one installation to the next.

-- The tables of the older schema that exist.
CREATE OR REPLACE FUNCTION legacy_tables() RETURNS text[] LANGUAGE sql STABLE AS $f$
  SELECT array_agg(t.name ORDER BY t.name)
    FROM unnest(ARRAY['dispensary_crawl_jobs', 'job_run_logs', 'job_schedules']) AS t (name)
   WHERE to_regclass(t.name) IS NOT NULL
$f$;

-- The first of these columns that a table has. If it has none, the migration cannot go on: SQLSTATE DV001, which the program reads as
-- `DbError::Unfit`.
CREATE OR REPLACE FUNCTION legacy_column(legacy_table text, names text[]) RETURNS text LANGUAGE plpgsql STABLE AS $f$
DECLARE found text;
BEGIN
  SELECT a.attname INTO found
    FROM pg_attribute a
   WHERE a.attrelid = to_regclass(legacy_table) AND a.attnum > 0 AND NOT a.attisdropped AND a.attname = ANY (names)
   ORDER BY array_position(names, a.attname::text)
   LIMIT 1;
  IF found IS NULL THEN
    RAISE SQLSTATE 'DV001' USING MESSAGE = format('the table %s has no column %s', legacy_table, array_to_string(names, ' or '));
  END IF;
  RETURN found;
END $f$;

-- The column that says whether an old schedule is enabled.
CREATE OR REPLACE FUNCTION legacy_switch() RETURNS text LANGUAGE sql STABLE AS $f$
  SELECT legacy_column('job_schedules', ARRAY['enabled', 'is_enabled', 'active', 'is_active'])
$f$;

-- Number of rows by the words of a column, as {"pending": 3}; null if the table does not exist.
CREATE OR REPLACE FUNCTION legacy_counts(legacy_table text, by_column text) RETURNS jsonb LANGUAGE plpgsql STABLE AS $f$
DECLARE counts jsonb;
BEGIN
  IF to_regclass(legacy_table) IS NULL THEN RETURN NULL; END IF;
  EXECUTE format('SELECT coalesce(jsonb_object_agg(word, n), ''{}'') FROM (SELECT coalesce(%I::text, ''null'') AS word, count(*) AS n
                    FROM %I GROUP BY 1) AS counted',
                 CASE by_column WHEN 'enabled' THEN legacy_switch() ELSE legacy_column(legacy_table, ARRAY[by_column]) END, legacy_table)
     INTO counts;
  RETURN counts;
END $f$;

-- Writes a word into a column of an old table where the column holds one of `old_words`: the first of `new_words` that its type and checks
-- accept. Unless `reason` is null, also writes the time of the end and the reason, if the table has columns for them. Returns the number of
-- rows. The caller has checked that the table exists.
CREATE OR REPLACE FUNCTION write_legacy_word(legacy_table text, of_column text, old_words text[], new_words text[], reason text) RETURNS int
LANGUAGE plpgsql AS $f$
DECLARE
  word text;
  also text := '';
  touched int := 0;
BEGIN
  IF reason IS NOT NULL THEN
    SELECT coalesce(string_agg(CASE WHEN a.attname = 'error_message' THEN ', error_message = $2' ELSE format(', %I = now()', a.attname) END, ''), '')
      INTO also
      FROM pg_attribute a
     WHERE a.attrelid = to_regclass(legacy_table) AND NOT a.attisdropped
       AND a.attname IN ('completed_at', 'finished_at', 'updated_at', 'error_message');
  END IF;
  FOREACH word IN ARRAY new_words LOOP
    BEGIN
      -- a literal takes the type of the column
      EXECUTE format('UPDATE %I SET %I = %L%s WHERE lower(%2$I::text) = ANY ($1)', legacy_table, of_column, word, also)
        USING old_words, reason;
      GET DIAGNOSTICS touched = ROW_COUNT;
      RETURN touched;
    EXCEPTION
      WHEN check_violation OR data_exception THEN
        NULL; -- try the next word
      WHEN syntax_error_or_access_rule_violation OR object_not_in_prerequisite_state THEN
        RAISE SQLSTATE 'DV001' USING MESSAGE = format('the column %s of the table %s cannot be written: %s', of_column, legacy_table, SQLERRM);
    END;
  END LOOP;
  RAISE SQLSTATE 'DV001' USING
    MESSAGE = format('the column %s of the table %s takes none of the words %s', of_column, legacy_table, array_to_string(new_words, ', '));
END $f$;

-- Disables the old schedules; returns the number that were enabled.
CREATE OR REPLACE FUNCTION disable_legacy_schedules() RETURNS int LANGUAGE plpgsql AS $f$
BEGIN
  IF to_regclass('job_schedules') IS NULL THEN RETURN 0; END IF;
  RETURN write_legacy_word('job_schedules', legacy_switch(), ARRAY['true', 't', 'yes', 'on', '1'], ARRAY['false', '0', 'no', 'off'], NULL);
END $f$;

-- Ends the rows of an old table whose status is `old_status`; returns their number, 0 if the table does not exist.
CREATE OR REPLACE FUNCTION end_legacy_rows(legacy_table text, old_status text, new_words text[], reason text) RETURNS int LANGUAGE plpgsql AS $f$
BEGIN
  IF to_regclass(legacy_table) IS NULL THEN RETURN 0; END IF;
  RETURN write_legacy_word(legacy_table, legacy_column(legacy_table, ARRAY['status']), ARRAY[old_status], new_words, reason);
END $f$;

-- Cancels the old crawl jobs that are pending; returns their number.
CREATE OR REPLACE FUNCTION cancel_legacy_crawl_jobs() RETURNS int LANGUAGE sql AS $f$
  SELECT end_legacy_rows('dispensary_crawl_jobs', 'pending', ARRAY['cancelled', 'canceled', 'failed'], 'moved to worker_tasks')
$f$;

-- Closes the old job runs that no process works on any more; returns their number.
CREATE OR REPLACE FUNCTION close_legacy_runs() RETURNS int LANGUAGE sql AS $f$
  SELECT end_legacy_rows('job_run_logs', 'running', ARRAY['failed', 'error'], 'its process has ended')
$f$;
