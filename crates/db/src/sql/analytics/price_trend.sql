-- analytics/price_trend.sql: sales day by day and category by category, in all stores; a null filters nothing. Planned
-- for its values. $first and $last: days. $after_…: the last row of the page before.
{analytics/sales.sql}
  FROM mv_price_trend t
 WHERE ($state::text IS NULL OR t.state = upper($state))
   {analytics/sales_of_days.sql}
