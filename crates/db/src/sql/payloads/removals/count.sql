-- payloads/removals/count.sql: number and bytes of files whose rows are gone.
SELECT count(*) AS files, coalesce(sum(bytes), 0)::bigint AS bytes FROM payload_removals;
