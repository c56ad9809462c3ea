-- The end of the statements that list the products of an export by id: the conditions of its filter; a null filters nothing.
 CROSS JOIN LATERAL (
       -- OFFSET 0: looked up by its key for each product
       SELECT d.name, d.state, d.groups FROM dispensaries d WHERE d.id = p.dispensary_id OFFSET 0
       ) d
 WHERE p.id > $after
   AND ($group::text IS NULL OR $group = ANY (d.groups))
   AND ($state::text IS NULL OR d.state = upper($state))
   AND ($brand::text IS NULL OR brand_key(p.brand_name_raw) = brand_key($brand))
   AND ($category::text IS NULL OR is_of_category($category, p.category, p.canonical_category))
 ORDER BY p.id
 LIMIT $limit
