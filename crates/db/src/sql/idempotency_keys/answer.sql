-- idempotency_keys/answer.sql: stores the answer to the request with key $2 of $1: $3 status, $4 location, $5
-- body.
UPDATE idempotency_keys SET status = $3, location = $4, body = $5 WHERE who = $1 AND key = $2;
