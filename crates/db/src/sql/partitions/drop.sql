-- partitions/drop.sql: drops a partition, if it ends before $2; answers whether it was there. $1 its name
SELECT drop_old_partition($1, $2);
