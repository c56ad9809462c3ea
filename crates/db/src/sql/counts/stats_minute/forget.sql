-- counts/stats_minute/forget.sql: deletes the counts from minute $1 on, to be counted again.
DELETE FROM stats_minute WHERE minute >= $1;
