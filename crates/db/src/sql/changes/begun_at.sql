-- changes/begun_at.sql: the place before the first published batch at or after $1; the newest one if there is none.
SELECT i.id::text AS installation, 2147483647 AS n,
       coalesce((SELECT b.seq - 1 FROM change_batches b WHERE b.created_at >= $1 AND b.seq IS NOT NULL ORDER BY b.created_at LIMIT 1),
                f.newest) AS seq
  FROM change_feed f, installation i;
