-- changes/newest.sql: the place behind the newest published batch, with the id of this database.
SELECT i.id::text AS installation, f.newest AS seq, 2147483647 AS n FROM change_feed f, installation i;
