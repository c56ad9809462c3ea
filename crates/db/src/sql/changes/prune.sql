-- changes/prune.sql: removes published batches that are older than $1 seconds, the first ones of the feed, $2 at most;
-- returns their number.
WITH old AS (
  SELECT crawl_id FROM change_batches
   WHERE created_at < now() - make_interval(secs => $1::float8) AND seq IS NOT NULL
   ORDER BY created_at
   LIMIT $2
     FOR UPDATE SKIP LOCKED
),
gone AS (
  DELETE FROM change_batches b USING old o WHERE b.crawl_id = o.crawl_id RETURNING b.seq
),
moved AS (
  UPDATE change_feed SET removed = greatest(removed, (SELECT max(seq) FROM gone)) WHERE EXISTS (SELECT FROM gone)
)
SELECT count(*) FROM gone;
