-- hosts/list.sql: hosts as they are at this time, by name, after $1: at most $2.
SELECT host, to_jsonb(h) AS state, clock_timestamp() AS now FROM hosts h WHERE $1::text IS NULL OR host > $1 ORDER BY host LIMIT $2;
