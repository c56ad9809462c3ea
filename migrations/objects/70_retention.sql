-- Decides what retention may remove. Retention runs only if an age is configured, and never waits long for a lock.

-- True if a payload is kept whatever its age: the newest of its store, the one that the store's products come from, or one that an open
-- task turns into products. Each kind of open task is found by the partial index that holds just that kind.
CREATE OR REPLACE FUNCTION is_payload_needed(payload_id bigint, store bigint, fetched timestamptz) RETURNS boolean LANGUAGE sql STABLE AS $f$
  SELECT NOT EXISTS (SELECT FROM raw_crawl_payloads newer
                      WHERE newer.dispensary_id = store AND (newer.fetched_at, newer.id) > (fetched, payload_id))
      OR EXISTS (SELECT FROM dispensaries d WHERE d.id = store AND d.last_payload_id = payload_id)
      OR EXISTS (SELECT FROM worker_tasks t
                  WHERE t.dispensary_id = store AND t.role = 'product_refresh' AND t.payload->>'payload_id' = payload_id::text
                    AND (t.status = 'pending' AND t.ready OR t.status IN ('claimed', 'running')))
      OR EXISTS (SELECT FROM worker_tasks t
                  WHERE t.dispensary_id = store AND t.role = 'product_refresh' AND t.payload->>'payload_id' = payload_id::text
                    AND t.status = 'pending' AND NOT t.ready AND NOT t.blocked)
      OR EXISTS (SELECT FROM worker_tasks t
                  WHERE t.dispensary_id = store AND t.role = 'product_refresh' AND t.payload->>'payload_id' = payload_id::text
                    AND t.status = 'pending' AND t.blocked)
$f$;

-- The month partitions of these tables that end before `before`, oldest first. `row_count` is the count of the last ANALYZE; if there was
-- none, the rows are counted.
CREATE OR REPLACE FUNCTION old_partitions(before timestamptz, tables text[] DEFAULT '{store_product_snapshots,store_product_variant_history}')
RETURNS TABLE (name text, ends_at timestamptz, row_count bigint, bytes bigint) LANGUAGE plpgsql AS $f$
DECLARE analysed bigint;
BEGIN
  FOR name, ends_at, analysed, bytes IN
    SELECT p.relname, p.ends_at, p.reltuples::bigint, pg_total_relation_size(p.oid)
      FROM (SELECT c.oid, c.relname, c.reltuples,
                   substring(pg_get_expr(c.relpartbound, c.oid) FROM 'TO \(''([^'']+)''\)')::timestamptz AS ends_at
              FROM pg_inherits i
              JOIN pg_class c ON c.oid = i.inhrelid
             WHERE i.inhparent = ANY (tables::regclass[])) p
     WHERE p.ends_at <= before
     ORDER BY p.ends_at, p.relname
  LOOP
    row_count := analysed;
    IF row_count < 0 THEN EXECUTE format('SELECT count(*) FROM %I', name) INTO row_count; END IF;
    RETURN NEXT;
  END LOOP;
END $f$;

-- Drops a partition that `old_partitions` returns; false if it is gone. It locks the whole table for a moment, and waits at most a second
-- for that lock; meanwhile, others wait behind it.
CREATE OR REPLACE FUNCTION drop_old_partition(
  partition text, before timestamptz, tables text[] DEFAULT '{store_product_snapshots,store_product_variant_history}') RETURNS boolean LANGUAGE plpgsql
SET lock_timeout = '1s' AS $f$
BEGIN
  IF NOT EXISTS (SELECT FROM old_partitions(before, tables) o WHERE o.name = partition) THEN RETURN false; END IF;
  EXECUTE format('DROP TABLE %I', partition);
  RETURN true;
END $f$;
