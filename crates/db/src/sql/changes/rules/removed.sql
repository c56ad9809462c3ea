-- changes/rules/removed.sql: the greatest number of the feed that retention removed.
SELECT removed FROM change_feed;
