-- stores/groups.sql: the groups that a store is in, by name.
SELECT DISTINCT g.name FROM dispensaries d CROSS JOIN LATERAL unnest(d.groups) AS g(name) ORDER BY g.name;
