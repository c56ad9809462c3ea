-- access/idempotency_keys/find.sql: the answer to key $2 of $1.
SELECT request, status, location, body FROM idempotency_keys WHERE who = $1 AND key = $2 AND status IS NOT NULL;
