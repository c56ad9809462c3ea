-- hosts/robots/read.sql: the stored robots.txt of authority $1.
SELECT fetched_at IS NOT NULL AS is_known, rules, why,
       greatest(extract(epoch FROM now() - unreachable_since), 0)::float8 AS unreachable_s,
       greatest(extract(epoch FROM next_fetch_at - now()), 0)::float8 AS next_fetch_s
  FROM robots
 WHERE authority = $1;
