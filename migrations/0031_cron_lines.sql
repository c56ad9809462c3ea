-- Cron lines are read as crontab(5) reads them (five fields, or six with seconds first; 1 is Monday; either day is enough where both are
-- restricted), on the clock of a time zone. Lines written before keep their meaning: seconds came first, 1 was Sunday, and both days had to
-- match. Their weekdays become names, N/step becomes N to 7, and + asks for both days.

ALTER TABLE task_schedules ADD COLUMN time_zone text;   -- of the cron line, a name of the IANA database; null is UTC

WITH line AS (
  SELECT id, regexp_split_to_array(btrim(cron, E' \t\n'), '\s+') AS f FROM task_schedules WHERE cron IS NOT NULL
), weekdays AS (
  SELECT id, f, regexp_replace(f[6], '(^|,)([1-7])/', '\1\2-7/', 'g') AS d FROM line WHERE cardinality(f) IN (6, 7)
), named AS (
  SELECT id, f, (SELECT string_agg(CASE WHEN c ~ '^[1-7]$' AND before !~ '[/0-9]' THEN (ARRAY['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'])[c::int]
                                        ELSE c END, '' ORDER BY n)
                   FROM (SELECT n, substr(d, n, 1) AS c, substr('.' || d, n, 1) AS before FROM generate_series(1, length(d)) n) chars) AS d
    FROM weekdays
)
UPDATE task_schedules s
   SET cron = concat_ws(' ', f[1], f[2], f[3], f[4], f[5],
                        CASE WHEN f[4] NOT IN ('*', '?') AND d NOT IN ('*', '?') THEN '+' ELSE '' END || d, f[7])
  FROM named
 WHERE s.id = named.id;
