-- One group, $1, with the columns of list.sql.
SELECT $1::text AS name,
       (SELECT count(*) FROM dispensaries WHERE $1 = ANY (groups)) AS stores,
       ARRAY (SELECT s.name FROM task_schedules s WHERE s.group_name = $1 ORDER BY s.name) AS schedules
