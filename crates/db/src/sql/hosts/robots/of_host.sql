-- hosts/robots/of_host.sql: the robots.txt of each authority of host $1, with the rules that were broken last.
SELECT authority, rules, fetched_at, unreachable_since, why, next_fetch_at,
       (SELECT coalesce(jsonb_agg(b ORDER BY b.reported_at DESC), '[]')
          FROM (SELECT rule, path, reported_at FROM robots_breaches
                 WHERE authority = r.authority ORDER BY reported_at DESC LIMIT 20) b) AS breaches
  FROM robots r
 WHERE host = $1
 ORDER BY authority;
