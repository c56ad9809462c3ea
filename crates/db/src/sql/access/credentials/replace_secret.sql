-- access/credentials/replace_secret.sql: another form of a secret that is still the same. $1 id, $2 its form before, $3 the new form
UPDATE credentials SET secret = $3, updated_at = now() WHERE id = $1 AND secret = $2
