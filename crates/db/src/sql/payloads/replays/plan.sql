-- payloads/replays/plan.sql: values with which a replay would begin. $1 since, $2 until
SELECT 0::bigint AS id, json_time(least($2, clock_timestamp())) AS up_to, json_time(coalesce($1, 'epoch'::timestamptz)) AS last_at,
       0::bigint AS last_id;
