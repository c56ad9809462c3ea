-- changes/window.sql: the part of the feed that one answer reads, by age: from batch $first at most $batches batches and, beyond the
-- first one, $changes changes. `removed`: the greatest number that retention removed.
WITH walked AS (
  SELECT b.seq, sum(b.count) OVER (ORDER BY b.seq {direction}) - b.count AS before
    FROM change_batches b
   WHERE b.seq {beyond}= $first      -- without a second limit, for which a planner without statistics would sort the whole range
     AND ($store::bigint IS NULL OR b.dispensary_id = $store)
   ORDER BY b.seq {direction}
   LIMIT $batches
)
SELECT f.newest, f.removed, w.*
  FROM change_feed f
 CROSS JOIN (
         SELECT min(seq) FILTER (WHERE before < $changes) AS least, max(seq) FILTER (WHERE before < $changes) AS greatest,
                count(*) = $batches OR coalesce(bool_or(before >= $changes), false) AS is_cut
           FROM walked) w;
