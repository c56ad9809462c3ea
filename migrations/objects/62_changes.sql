-- Publication of changes: committed batches get the numbers by which readers follow them.

-- True if a committed batch waits to be published.
CREATE OR REPLACE FUNCTION has_unpublished_changes() RETURNS boolean LANGUAGE sql STABLE
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET jit = off AS $f$
  SELECT EXISTS (SELECT FROM change_batches WHERE seq IS NULL)
$f$;

-- Numbers at most `batch` committed batches, those of a store in the order of its crawls; returns how many: none while another publisher,
-- which holds the lock of the feed's row, is at work.
CREATE OR REPLACE FUNCTION publish_changes(batch int) RETURNS bigint LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET jit = off AS $f$
DECLARE
  before bigint;
  published bigint;
BEGIN
  SELECT f.newest INTO before FROM change_feed f FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN 0; END IF;
  WITH waiting AS (
    SELECT b.crawl_id, before + row_number() OVER (ORDER BY b.crawled_at, b.crawl_id) AS seq
      FROM change_batches b
     WHERE b.seq IS NULL
     ORDER BY b.crawled_at, b.crawl_id
     LIMIT batch)
  UPDATE change_batches b SET seq = w.seq FROM waiting w WHERE b.crawl_id = w.crawl_id;
  GET DIAGNOSTICS published = ROW_COUNT;
  IF published > 0 THEN UPDATE change_feed f SET newest = before + published; END IF;
  RETURN published;
END $f$;
