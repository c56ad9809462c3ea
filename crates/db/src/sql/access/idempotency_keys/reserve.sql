-- access/idempotency_keys/reserve.sql: key $2 of $1 is for the request with digest $3, unless another took it in the
-- last day. One transaction waits here for another with the same key.
INSERT INTO idempotency_keys AS k (who, key, request) VALUES ($1, $2, $3)
    ON CONFLICT (who, key) DO UPDATE SET request = excluded.request, status = NULL, location = NULL, body = NULL, created_at = now()
 WHERE k.created_at < now() - interval '24 hours';
