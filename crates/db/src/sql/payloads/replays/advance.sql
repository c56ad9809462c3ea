-- payloads/replays/advance.sql: moves a replay on, unless another process has moved it from the payload $from_id. $last_…: its
-- payload now. $tasks: number of queued ones
UPDATE payload_replays
   SET last_at = $last_at, last_id = $last_id, queued = queued + $tasks, updated_at = now()
 WHERE id = $id AND last_id = $from_id AND finished_at IS NULL;
