-- changes/window.sql: the part of the feed that one answer reads: from batch $first to the returned end, at most $batches
-- batches and, beyond the first one, $changes changes. `removed`: the greatest number that retention removed.
WITH walked AS (
  SELECT b.seq, sum(b.count) OVER (ORDER BY b.seq) - b.count AS before
    FROM change_batches b
   WHERE b.seq >= $first
     AND ($store::bigint IS NULL OR b.dispensary_id = $store)
   ORDER BY b.seq
   LIMIT $batches
)
SELECT f.newest, f.removed,
       (SELECT CASE WHEN count(*) = $batches OR bool_or(w.before >= $changes)
                    THEN max(w.seq) FILTER (WHERE w.before < $changes)
                    ELSE f.newest
               END
          FROM walked w) AS until
  FROM change_feed f;
