-- demo/history/requests.sql: simulated counts of requests by proxy for 7 days, by half an hour, the last
-- three hours by minute, and by store and day; process 0 marks them. $requests: in a minute. $dead_proxy: the place of
-- the proxy that never answers, from 1
WITH slots AS (
  SELECT s.minute, s.minutes FROM (SELECT date_bin('1 minute', now(), timestamptz '2000-01-01 00:00:00Z') AS until) n
   CROSS JOIN LATERAL (
     SELECT generate_series(n.until - interval '7 days', n.until - interval '210 minutes', interval '30 minutes') AS minute, 30 AS minutes
      UNION ALL
     SELECT generate_series(n.until - interval '180 minutes', n.until - interval '1 minute', interval '1 minute'), 1) s
), routes AS (
  SELECT p.id, row_number() OVER (ORDER BY p.id) AS place, count(*) OVER () AS proxies FROM proxies p
), counted AS (
  SELECT s.minute, r.id AS proxy_id, k.outcome,
         round(s.minutes * $requests::float8 / r.proxies * CASE WHEN r.place <> $dead_proxy::bigint THEN k.share WHEN k.outcome = 'timeout' THEN 1 ELSE 0 END
               * (0.6 + 0.8 * (hashint8extended(extract(epoch FROM s.minute)::bigint + r.id, $seed::bigint) & 1023) / 1023.0)
               * CASE WHEN k.outcome = 'blocked' AND r.place > 2 THEN 0.05 ELSE 1 END)::bigint AS requests,
         k.seconds
    FROM slots s
   CROSS JOIN routes r
   CROSS JOIN (VALUES ('ok', 0.95, 0.3), ('blocked', 0.08, 0.2), ('timeout', 0.01, 10.0)) AS k(outcome, share, seconds)
), by_store AS (
  INSERT INTO fetch_store_day (day, dispensary_id, process, requests, bytes_sent, bytes_received)
  SELECT d.day::date, s.id, 0, n.requests, n.requests * 900, n.requests * 48000
    FROM generate_series((now() AT TIME ZONE 'UTC')::date - 7, (now() AT TIME ZONE 'UTC')::date - 1, interval '1 day') AS d(day)
   CROSS JOIN (SELECT id, count(*) OVER () AS stores FROM dispensaries WHERE platform_dispensary_id IS NOT NULL) s
         -- as many in all as by proxy
   CROSS JOIN LATERAL (SELECT round($requests::float8 * 1440 / s.stores
                                    * (0.6 + 0.8 * (hashint8extended(s.id, $seed + extract(epoch FROM d.day)::bigint) & 1023) / 1023.0))::bigint
                              AS requests) n
      ON CONFLICT DO NOTHING
)
INSERT INTO fetch_minute (minute, process, host, proxy_id, outcome, requests, bytes_sent, bytes_received, seconds)
SELECT c.minute, 0, $host::text, c.proxy_id, c.outcome, c.requests, c.requests * 900,
       CASE c.outcome WHEN 'ok' THEN c.requests * 48000 ELSE c.requests * 700 END, c.requests * c.seconds
  FROM counted c WHERE c.requests > 0
    ON CONFLICT DO NOTHING
