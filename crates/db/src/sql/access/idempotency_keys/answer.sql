-- access/idempotency_keys/answer.sql: stores the answer to a request.
UPDATE idempotency_keys SET status = $status, location = $location, body = $body WHERE who = $who AND key = $key;
