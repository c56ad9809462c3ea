-- proxies/usage.sql: bytes of today that processes have written: of each proxy since midnight in its
-- timezone; without an id, of all together, removed ones too, since midnight in UTC. With the end of that
-- day, and the seconds until then.
WITH zones AS MATERIALIZED (
  SELECT z.timezone, d.began, d.ends
    FROM (SELECT coalesce(timezone, 'UTC') AS timezone FROM proxies UNION SELECT 'UTC') z, day_in(z.timezone) d
), days AS MATERIALIZED (
  SELECT p.id, z.began, z.ends FROM proxies p JOIN zones z ON z.timezone = coalesce(p.timezone, 'UTC')
), used AS MATERIALIZED (
  SELECT f.proxy_id AS id, sum(f.bytes_sent + f.bytes_received) FILTER (WHERE f.minute >= d.began) AS own,
         sum(f.bytes_sent + f.bytes_received) FILTER (WHERE f.minute >= (SELECT began FROM zones WHERE timezone = 'UTC')) AS in_all
    FROM fetch_minute f
    LEFT JOIN days d ON d.id = f.proxy_id
   WHERE f.minute >= (SELECT min(began) FROM zones)
   GROUP BY f.proxy_id
)
SELECT d.id, coalesce(u.own, 0)::bigint AS bytes, d.ends, greatest(extract(epoch FROM d.ends - clock_timestamp()), 0)::float8 AS left_s
  FROM days d
  LEFT JOIN used u USING (id)
UNION ALL
SELECT NULL, (SELECT coalesce(sum(in_all), 0) FROM used)::bigint, z.ends,
       greatest(extract(epoch FROM z.ends - clock_timestamp()), 0)::float8
  FROM zones z
 WHERE z.timezone = 'UTC';
