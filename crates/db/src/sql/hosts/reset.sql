-- hosts/reset.sql: deletes the row of host $1.
DELETE FROM hosts WHERE host = $1;
