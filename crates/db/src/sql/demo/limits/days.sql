-- demo/limits/days.sql: deletes prices of days before the last week
DELETE FROM price_days WHERE day < (now() AT TIME ZONE 'UTC')::date - 8
