-- access/audit_log/prune.sql: removes at most $2 rows that are older than $1 seconds.
DELETE FROM audit_log
 WHERE id IN (SELECT id FROM audit_log WHERE at < now() - make_interval(secs => $1::float8) ORDER BY at LIMIT $2);
