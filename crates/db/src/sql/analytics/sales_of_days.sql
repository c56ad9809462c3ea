-- analytics/sales_of_days.sql: the end of a statement with sales.sql, for a page of it
   AND ($brand::text IS NULL OR t.brand_key = brand_key($brand))
   AND ($category::text IS NULL OR lower(t.category) = lower($category))
   AND t.day >= coalesce($first, (now() AT TIME ZONE 'UTC')::date - 30)
   AND ($last::date IS NULL OR t.day <= $last)
   AND ($after_day::date IS NULL OR (t.day, t.category COLLATE "C") > ($after_day, $after_category))
 GROUP BY t.day, t.category
 ORDER BY t.day, t.category COLLATE "C"
 LIMIT $rows
