-- schema/partitions/old.sql: the partitions that end before $1.
SELECT name, json_time(ends_at) AS ends_at, row_count, bytes FROM old_partitions($1);
