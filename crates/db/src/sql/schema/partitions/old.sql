-- schema/partitions/old.sql: the partitions of these tables that end before a time. $1 the time, $2 tables
SELECT name, json_time(ends_at) AS ends_at, row_count, bytes FROM old_partitions($1, $2);
