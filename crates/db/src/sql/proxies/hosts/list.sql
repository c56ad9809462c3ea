-- proxies/hosts/list.sql: the records of the proxies $1 at single hosts, at most $2 of each proxy: the latest ones.
SELECT proxy_id, host, is_best_effort, recent_requests, recent_refused, recent_failed
  FROM (SELECT h.*, row_number() OVER (PARTITION BY h.proxy_id ORDER BY h.updated_at DESC, h.host) AS nth
          FROM proxy_hosts h
         WHERE h.proxy_id = ANY ($1::bigint[])) latest
 WHERE nth <= $2
 ORDER BY proxy_id, is_best_effort, host;
