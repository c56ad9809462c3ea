-- changes/begun_at.sql: the number before the first published batch at or after $1; the newest one if there is none.
SELECT coalesce((SELECT b.seq - 1 FROM change_batches b WHERE b.created_at >= $1 AND b.seq IS NOT NULL ORDER BY b.created_at LIMIT 1),
                f.newest)
  FROM change_feed f;
