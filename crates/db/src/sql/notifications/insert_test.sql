-- notifications/insert_test.sql: a notification that tries an endpoint. $1 endpoint
INSERT INTO notifications (endpoint_id, event, subject, body)
VALUES ($1, 'test', gen_random_uuid()::text, '{"message": "drover can reach this endpoint"}')
RETURNING id
