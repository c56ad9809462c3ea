-- pod_names/take.sql: takes names for a process; two of its pods may have one name. $1 names, $2 host, $3 pid, $4 pid_space, $5 seconds
INSERT INTO pod_names (name, host, pid, pid_space, until)
SELECT n.name, $2, $3, $4, now() + make_interval(secs => $5) FROM (SELECT DISTINCT unnest($1::text[]) AS name) n ORDER BY n.name
ON CONFLICT (name) DO UPDATE SET host = excluded.host, pid = excluded.pid, pid_space = excluded.pid_space, until = excluded.until
