-- hosts/list.sql: the hosts named $1, or all of them where it is null, as they are at this time.
SELECT host, to_jsonb(h) AS state, clock_timestamp() AS now FROM hosts h WHERE $1::text IS NULL OR host = $1 ORDER BY host;
