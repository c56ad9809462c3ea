-- analytics/forget_old_days.sql: deletes old days. $1 number of days that are kept
DELETE FROM price_days WHERE day < (now() AT TIME ZONE 'UTC')::date - $1::int;
