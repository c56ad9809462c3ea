-- images/store_names.sql: the stores as directories of images name them
SELECT id, state, coalesce(slug, id::text) AS store FROM dispensaries ORDER BY id;
