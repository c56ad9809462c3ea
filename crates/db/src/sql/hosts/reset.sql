-- hosts/reset.sql: forgets all that is known of host $1.
DELETE FROM hosts WHERE host = $1;
