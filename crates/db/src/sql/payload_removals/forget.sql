-- payload_removals/forget.sql: the files $1 are gone.
DELETE FROM payload_removals WHERE storage_path = ANY ($1);
