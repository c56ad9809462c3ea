-- fetch_minute/write.sql: the current totals of process $1: minutes $2, hosts $3, proxies $4, outcomes $5,
-- requests $6, bytes sent $7 and received $8, seconds $9. Totals only grow, so writing them again, or late,
-- changes nothing.
INSERT INTO fetch_minute AS f (minute, process, host, proxy_id, outcome, requests, bytes_sent, bytes_received, seconds)
SELECT n.minute, $1, n.host, n.proxy_id, n.outcome, n.requests, n.bytes_sent, n.bytes_received, n.seconds
  FROM unnest($2::timestamptz[], $3::text[], $4::bigint[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[], $9::float8[])
       AS n(minute, host, proxy_id, outcome, requests, bytes_sent, bytes_received, seconds)
 ORDER BY n.minute, n.host, n.proxy_id, n.outcome
    ON CONFLICT (minute, process, host, proxy_id, outcome)
    DO UPDATE SET requests = excluded.requests, bytes_sent = excluded.bytes_sent, bytes_received = excluded.bytes_received,
                  seconds = excluded.seconds
    WHERE f.requests < excluded.requests;
