-- analytics/price_trend_of_store.sql: sales of a store, which must be in $state, day by day and category by category; a
-- null filters nothing. Planned for its values. $first and $last: days. $after_…: the last row of the page before.
{analytics/sales.sql}
  FROM price_days t
  JOIN dispensaries d ON d.id = t.dispensary_id
 WHERE t.dispensary_id = $store
   AND ($state::text IS NULL OR d.state = upper($state))
   {analytics/sales_of_days.sql}
