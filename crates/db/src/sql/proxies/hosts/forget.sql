-- proxies/hosts/forget.sql: removes records of the proxies $1 that no request has changed for a week.
DELETE FROM proxy_hosts
 WHERE (proxy_id, host) IN (
         SELECT h.proxy_id, h.host
           FROM proxy_hosts h
          WHERE h.proxy_id = ANY ($1::bigint[]) AND h.updated_at < now() - interval '7 days'
          ORDER BY h.proxy_id, h.host
            FOR UPDATE SKIP LOCKED);
