-- Snapshots are only appended, and a refresh holds the lock of its store's row: no key has to refuse a second snapshot. A product's are
-- found by block ranges: those of one crawl lie together, with ids that lie together. A row of the key's index cost a crawl more WAL
-- than the snapshot itself, and its page after each checkpoint.

-- A month that has rows keeps its key, as a constraint of its own; it is attached again, which reads it once. The next month is made
-- without.
DO $$
DECLARE
  months   regclass[];
  bounds   text[];
  has_rows boolean;
BEGIN
  SELECT array_agg(c.oid::regclass ORDER BY c.oid), array_agg(pg_get_expr(c.relpartbound, c.oid) ORDER BY c.oid)
    INTO months, bounds
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
   WHERE i.inhparent = 'store_product_snapshots'::regclass
     AND pg_get_expr(c.relpartbound, c.oid) <> 'DEFAULT';
  FOR n IN 1..coalesce(cardinality(months), 0) LOOP
    EXECUTE format('ALTER TABLE store_product_snapshots DETACH PARTITION %s', months[n]);
  END LOOP;
  ALTER TABLE store_product_snapshots DROP CONSTRAINT store_product_snapshots_pkey;
  FOR n IN 1..coalesce(cardinality(months), 0) LOOP
    EXECUTE format('SELECT EXISTS (SELECT FROM %s)', months[n]) INTO has_rows;
    IF has_rows THEN
      EXECUTE format('ALTER TABLE store_product_snapshots ATTACH PARTITION %s %s', months[n], bounds[n]);
    ELSE
      EXECUTE format('DROP TABLE %s', months[n]);      -- and is made again below
    END IF;
  END LOOP;
END $$;

-- ON ONLY: months that keep their key need no index more.
CREATE INDEX store_product_snapshots_range ON ONLY store_product_snapshots
 USING brin (store_product_id int8_minmax_multi_ops, crawl_id) WITH (pages_per_range = 64, autosummarize = on);
CREATE INDEX store_product_snapshots_default_range ON store_product_snapshots_default
 USING brin (store_product_id int8_minmax_multi_ops, crawl_id) WITH (pages_per_range = 64, autosummarize = on);
ALTER INDEX store_product_snapshots_range ATTACH PARTITION store_product_snapshots_default_range;

DO $$
BEGIN
  IF to_regprocedure('ensure_snapshot_partitions(integer)') IS NOT NULL THEN
    PERFORM ensure_snapshot_partitions();
  END IF;
END $$;
