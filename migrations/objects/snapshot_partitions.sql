-- Makes the month partitions of store_product_snapshots from this month to `ahead` months on, where they are missing; returns how many.
-- Rows of such a month that the default partition already took move into the new one.
CREATE OR REPLACE FUNCTION ensure_snapshot_partitions(ahead int DEFAULT 1) RETURNS int
LANGUAGE plpgsql AS $$
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
    name  := 'store_product_snapshots_' || to_char(start AT TIME ZONE 'UTC', 'YYYY_MM');
    CONTINUE WHEN to_regclass(name) IS NOT NULL;

    EXECUTE format('CREATE TABLE %I (LIKE store_product_snapshots INCLUDING ALL)', name);
    -- nothing may arrive in the default partition between the move and the attachment
    LOCK TABLE store_product_snapshots_default IN ACCESS EXCLUSIVE MODE;
    EXECUTE format('WITH moved AS (DELETE FROM store_product_snapshots_default WHERE crawled_at >= $1 AND crawled_at < $2 RETURNING *)
                    INSERT INTO %I SELECT * FROM moved', name) USING start, stop;
    EXECUTE format('ALTER TABLE store_product_snapshots ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', name, start, stop);
    made := made + 1;
  END LOOP;
  RETURN made;
END $$;

SELECT ensure_snapshot_partitions();
