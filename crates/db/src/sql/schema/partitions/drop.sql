-- schema/partitions/drop.sql: drops a partition if it ends before $2; returns whether it existed. $1 its name
SELECT drop_old_partition($1, $2);
