-- payloads/replays/finish.sql: marks a replay as finished. $1 replay
UPDATE payload_replays SET finished_at = now(), updated_at = now() WHERE id = $1;
