-- changes/rules/due.sql: rules that have changes to look at, of digests those whose next one may be sent, and disabled
-- rules that have a place in the feed. $1 at most
SELECT r.id
  FROM change_rules r
  JOIN notification_endpoints e ON e.id = r.endpoint_id
 CROSS JOIN change_feed f
 WHERE CASE WHEN r.enabled AND e.enabled
            THEN r.seq IS NULL
                 OR (r.seq, r.n) < (f.newest, 2147483647)
                    AND (r.digested_at IS NULL
                         OR r.digested_at <= now() - CASE r.digest WHEN 'hourly' THEN interval '1 hour' WHEN 'daily' THEN interval '1 day'
                                                                   ELSE interval '0' END)
            ELSE r.seq IS NOT NULL
       END
 ORDER BY r.id
 LIMIT $1;
