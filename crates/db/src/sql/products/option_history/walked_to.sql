-- products/option_history/walked_to.sql: the last id that walk.sql looks at; null: there is none. $1 after, $2 at most
SELECT max(id) FROM (SELECT id FROM store_products WHERE id > $1 ORDER BY id LIMIT $2) p;
