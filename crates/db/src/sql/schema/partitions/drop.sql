-- schema/partitions/drop.sql: drops a partition of these tables if it ends before $2; returns whether it existed. $1 its
-- name, $3 tables
SELECT drop_old_partition($1, $2, $3);
