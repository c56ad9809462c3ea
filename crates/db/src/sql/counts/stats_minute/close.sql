-- counts/stats_minute/close.sql: records that minutes before $1 are counted for good.
UPDATE stats_progress SET closed_until = $1 WHERE closed_until < $1;
