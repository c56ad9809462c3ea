-- changes/has_unpublished.sql: whether a committed batch waits to be published.
SELECT has_unpublished_changes();
