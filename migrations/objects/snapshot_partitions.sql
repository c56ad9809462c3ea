-- Creates the missing month partitions of a table, from this month to `ahead` months later; returns their number. Rows of such a month that
-- the default partition already has move into the new one.
CREATE OR REPLACE FUNCTION ensure_month_partitions(parent text, ahead int) RETURNS int
LANGUAGE plpgsql
SET lock_timeout = '2s'      -- at most 2 s for a lock: the next tick tries again
AS $$
DECLARE
  first date := date_trunc('month', now() AT TIME ZONE 'UTC')::date;
  start timestamptz;
  stop  timestamptz;
  name  text;
  made  int := 0;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtext('ensure_snapshot_partitions'));
  FOR month IN 0..ahead LOOP
    start := (first + make_interval(months => month)) AT TIME ZONE 'UTC';
    stop  := (first + make_interval(months => month + 1)) AT TIME ZONE 'UTC';
    name  := parent || '_' || to_char(start AT TIME ZONE 'UTC', 'YYYY_MM');
    CONTINUE WHEN to_regclass(name) IS NOT NULL;

    EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', name, parent);
    -- no row may enter the default partition between the move and the attachment
    EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', parent || '_default');
    EXECUTE format('WITH moved AS (DELETE FROM %I WHERE crawled_at >= $1 AND crawled_at < $2 RETURNING *)
                    INSERT INTO %I SELECT * FROM moved', parent || '_default', name) USING start, stop;
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, name, start, stop);
    made := made + 1;
  END LOOP;
  RETURN made;
END $$;

CREATE OR REPLACE FUNCTION ensure_snapshot_partitions(ahead int DEFAULT 1) RETURNS int
LANGUAGE sql AS $$
  SELECT ensure_month_partitions('store_product_snapshots', ahead) + ensure_month_partitions('store_product_variant_history', ahead)
         + ensure_month_partitions('product_changes', ahead)
$$;

SELECT ensure_snapshot_partitions();
