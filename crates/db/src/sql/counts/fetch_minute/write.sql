-- counts/fetch_minute/write.sql: the current totals of a process. Totals only grow, so writing them again, or late, changes
-- nothing.
INSERT INTO fetch_minute AS f (minute, process, host, proxy_id, outcome, requests, bytes_sent, bytes_received, seconds)
SELECT n.minute, $process, n.host, n.proxy_id, n.outcome, n.requests, n.bytes_sent, n.bytes_received, n.seconds
  FROM unnest($minutes::timestamptz[], $hosts::text[], $proxies::bigint[], $outcomes::text[], $requests::bigint[],
              $bytes_sent::bigint[], $bytes_received::bigint[], $seconds::float8[])
       AS n(minute, host, proxy_id, outcome, requests, bytes_sent, bytes_received, seconds)
 ORDER BY n.minute, n.host, n.proxy_id, n.outcome
    ON CONFLICT (minute, process, host, proxy_id, outcome)
    DO UPDATE SET requests = excluded.requests, bytes_sent = excluded.bytes_sent, bytes_received = excluded.bytes_received,
                  seconds = excluded.seconds
    WHERE f.requests < excluded.requests;
