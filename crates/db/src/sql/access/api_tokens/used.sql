-- access/api_tokens/used.sql: records the use of the tokens $1, at most once a minute for each.
UPDATE api_tokens SET last_used_at = now()
 WHERE id = ANY ($1::bigint[]) AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute');
