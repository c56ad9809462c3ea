-- stores/add_unless_known.sql: adds stores by hand or from a list, one array per column; known ones change
-- only their groups. Results are in the order of the list.
SELECT store_id AS id, is_known, is_grouped, is_full, former_slug, slug
  FROM add_stores($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11);
