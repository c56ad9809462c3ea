-- Groups by name, with the number of their stores and their schedules; after $1, at most $2. A group exists
-- while a store is in it, or a schedule is for it.
WITH named AS (
  SELECT g.name, count(*) AS stores FROM dispensaries d CROSS JOIN LATERAL unnest(d.groups) AS g(name) GROUP BY g.name
), scheduled AS (
  SELECT group_name AS name, array_agg(s.name ORDER BY s.name) AS schedules FROM task_schedules s WHERE group_name IS NOT NULL GROUP BY 1
)
SELECT name, coalesce(n.stores, 0) AS stores, coalesce(s.schedules, '{}') AS schedules
  FROM named n FULL JOIN scheduled s USING (name)
 WHERE $1::text IS NULL OR name > $1
 ORDER BY name
 LIMIT $2
