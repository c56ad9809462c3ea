-- payloads/replays/begin.sql: begins a replay of everything fetched until now, or until $2 if that is earlier.
-- $1 since, $2 until, $3 stores, in order
INSERT INTO payload_replays (since, until, stores, up_to, last_at, last_id)
VALUES ($1, $2, $3, least($2::timestamptz, clock_timestamp()), coalesce($1::timestamptz, 'epoch'), 0)
RETURNING id, json_time(up_to) AS up_to, json_time(last_at) AS last_at, last_id;
