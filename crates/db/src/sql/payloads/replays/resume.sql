-- payloads/replays/resume.sql: the unfinished replay of the same choice. $1 since, $2 until, $3 stores, in
-- order
SELECT id, json_time(up_to) AS up_to, json_time(last_at) AS last_at, last_id
  FROM payload_replays
 WHERE finished_at IS NULL
   AND since IS NOT DISTINCT FROM $1
   AND until IS NOT DISTINCT FROM $2
   AND stores IS NOT DISTINCT FROM $3
 ORDER BY id DESC
 LIMIT 1;
