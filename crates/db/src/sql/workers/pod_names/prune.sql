-- workers/pod_names/prune.sql: removes names whose time is over
DELETE FROM pod_names WHERE until <= now()
