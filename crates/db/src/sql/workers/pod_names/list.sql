-- workers/pod_names/list.sql: the names that starting processes have taken
SELECT name, host, pid, pid_space FROM pod_names WHERE until > now() ORDER BY name
