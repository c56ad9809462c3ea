-- analytics/forget_old_change_days.sql: deletes old days. $1 number of days that are kept
DELETE FROM daily_price_changes WHERE day < (now() AT TIME ZONE 'UTC')::date - $1::int;
