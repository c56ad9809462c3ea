-- payload_removals/count.sql: files whose rows are gone, and their bytes.
SELECT count(*) AS files, coalesce(sum(bytes), 0)::bigint AS bytes FROM payload_removals;
