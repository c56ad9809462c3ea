-- payload_replays/advance.sql: moves a replay on, unless another process has moved it. $1 replay, $2 its
-- payload before, $3 and $4 time and id of its payload now, $5 tasks queued
UPDATE payload_replays
   SET last_at = $3, last_id = $4, queued = queued + $5, updated_at = now()
 WHERE id = $1 AND last_id = $2 AND finished_at IS NULL;
