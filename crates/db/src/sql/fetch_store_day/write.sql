-- fetch_store_day/write.sql: the current totals of process $1: days $2, stores $3 (NULL: none), requests $4,
-- bytes sent $5 and received $6. Totals only grow, so writing them again, or late, changes nothing.
INSERT INTO fetch_store_day AS f (day, dispensary_id, process, requests, bytes_sent, bytes_received)
SELECT n.day, coalesce(n.store, 0), $1, n.requests, n.bytes_sent, n.bytes_received
  FROM unnest($2::date[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])
       AS n(day, store, requests, bytes_sent, bytes_received)
 ORDER BY 1, 2
    ON CONFLICT (day, dispensary_id, process)
    DO UPDATE SET requests = excluded.requests, bytes_sent = greatest(f.bytes_sent, excluded.bytes_sent),
                  bytes_received = greatest(f.bytes_received, excluded.bytes_received)
    WHERE f.requests < excluded.requests;
