-- retailers/bring_together.sql: takes back that two stores are apart. $1 the smaller id, $2 the other
DELETE FROM stores_apart WHERE one = $1 AND other = $2;
