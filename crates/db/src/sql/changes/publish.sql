-- changes/publish.sql: numbers committed batches, $1 at most; returns the first and the last number. No row: there is none,
-- or another publisher is at work.
SELECT first, last FROM publish_changes($1);
