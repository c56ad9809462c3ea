-- products/images/store_names.sql: the stores, by the names of their image directories
SELECT id, state, coalesce(slug, id::text) AS store FROM dispensaries ORDER BY id;
