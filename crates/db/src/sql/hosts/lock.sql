-- hosts/lock.sql: locks the row of host $1, and returns it with the time after the wait for the lock.
WITH held AS MATERIALIZED (SELECT * FROM hosts WHERE host = $1 FOR NO KEY UPDATE)
SELECT host, to_jsonb(held) AS state, clock_timestamp() AS now FROM held;
