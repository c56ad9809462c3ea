-- retention_runs/list.sql: the latest run of each kind
SELECT kind, json_time(ran_at) AS ran_at, removed FROM retention_runs ORDER BY kind
