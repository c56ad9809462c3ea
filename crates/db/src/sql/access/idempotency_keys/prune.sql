-- access/idempotency_keys/prune.sql: removes at most $1 keys that are older than a day.
DELETE FROM idempotency_keys
 WHERE (who, key) IN (SELECT who, key FROM idempotency_keys WHERE created_at < now() - interval '24 hours' ORDER BY created_at LIMIT $1);
