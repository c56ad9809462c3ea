-- analytics/forget_old_weeks.sql: deletes old weeks. $1 number of weeks that are kept
DELETE FROM unit_price_weeks WHERE week < (now() AT TIME ZONE 'UTC')::date - 7 * $1::int;
