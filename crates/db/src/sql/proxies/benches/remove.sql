-- proxies/benches/remove.sql: the benches of the proxies $1 at the hosts $2, which have ended early, and all whose time is over.
DELETE FROM proxy_benches
 WHERE (proxy_id, host) IN (
         SELECT b.proxy_id, b.host
           FROM proxy_benches b
          WHERE b.until <= clock_timestamp()
             OR (b.proxy_id, b.host) IN (SELECT * FROM unnest($1::bigint[], $2::text[]))
          ORDER BY b.proxy_id, b.host
            FOR UPDATE SKIP LOCKED);
