-- hosts/get.sql: host $1 as it is at this time.
SELECT host, to_jsonb(h) AS state, clock_timestamp() AS now FROM hosts h WHERE host = $1;
