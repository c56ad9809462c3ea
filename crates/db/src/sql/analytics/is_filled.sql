-- analytics/is_filled.sql: whether a materialized view was ever refreshed: until then it cannot be read. $1
-- view
SELECT relispopulated FROM pg_class WHERE oid = to_regclass($1);
