-- payload_replays/plan.sql: what a replay would begin with. $1 since, $2 until
SELECT 0::bigint AS id, json_time(least($2, clock_timestamp())) AS up_to, json_time(coalesce($1, 'epoch'::timestamptz)) AS last_at,
       0::bigint AS last_id;
