-- counts/fetch_store_day/write.sql: the current totals of a process; in $stores, NULL is none. Totals only grow, so writing
-- them again, or late, changes nothing.
INSERT INTO fetch_store_day AS f (day, dispensary_id, process, requests, bytes_sent, bytes_received)
SELECT n.day, coalesce(n.store, 0), $process, n.requests, n.bytes_sent, n.bytes_received
  FROM unnest($days::date[], $stores::bigint[], $requests::bigint[], $bytes_sent::bigint[], $bytes_received::bigint[])
       AS n(day, store, requests, bytes_sent, bytes_received)
 ORDER BY 1, 2
    ON CONFLICT (day, dispensary_id, process)
    DO UPDATE SET requests = excluded.requests, bytes_sent = greatest(f.bytes_sent, excluded.bytes_sent),
                  bytes_received = greatest(f.bytes_received, excluded.bytes_received)
    WHERE f.requests < excluded.requests;
