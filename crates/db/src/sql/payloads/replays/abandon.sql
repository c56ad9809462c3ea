-- payloads/replays/abandon.sql: ends the unfinished replays of a choice. $1 since, $2 until, $3 stores, in
-- order
UPDATE payload_replays
   SET finished_at = now(), updated_at = now()
 WHERE finished_at IS NULL
   AND since IS NOT DISTINCT FROM $1
   AND until IS NOT DISTINCT FROM $2
   AND stores IS NOT DISTINCT FROM $3;
