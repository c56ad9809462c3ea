-- changes/publish.sql: numbers committed batches, $1 at most; returns how many. 0: there is none, or another publisher is at
-- work.
SELECT publish_changes($1);
