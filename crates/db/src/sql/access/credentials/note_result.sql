-- access/credentials/note_result.sql: writes how the last job that used a credential fared. $1 id, $2 result
UPDATE credentials SET last_result = $2 WHERE id = $1
