-- changes/newest.sql: the number of the newest published batch, and the id of this database.
SELECT f.newest, i.id::text AS installation FROM change_feed f, installation i;
