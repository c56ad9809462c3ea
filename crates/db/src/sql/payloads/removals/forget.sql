-- payloads/removals/forget.sql: deletes the paths $1 of removed files.
DELETE FROM payload_removals WHERE storage_path = ANY ($1);
