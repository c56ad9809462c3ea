-- access/credentials/seal.sql: writes the encrypted secret of a credential. $1 id, $2 the secret
UPDATE credentials SET secret = $2, last_result = NULL, updated_at = now() WHERE id = $1
