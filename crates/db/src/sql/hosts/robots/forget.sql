-- hosts/robots/forget.sql: deletes the robots.txt of host $1, which is then fetched again.
DELETE FROM robots WHERE host = $1;
