-- workers/pod_names/take.sql: takes names for a process; two of its pods may have one name.
INSERT INTO pod_names (name, host, pid, pid_space, until)
SELECT n.name, $host, $pid, $pid_space, now() + make_interval(secs => $seconds) FROM (SELECT DISTINCT unnest($names::text[]) AS name) n ORDER BY n.name
ON CONFLICT (name) DO UPDATE SET host = excluded.host, pid = excluded.pid, pid_space = excluded.pid_space, until = excluded.until
