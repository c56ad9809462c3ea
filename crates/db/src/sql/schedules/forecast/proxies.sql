-- schedules/forecast/proxies.sql: number of proxies in use, and of processes with workers that claim tasks or are paused: each process counts the sessions of a
-- proxy by itself.
SELECT (SELECT count(*) FROM proxies WHERE is_active AND protocol IN ('http', 'https', 'socks5')) AS proxies,
       (SELECT count(DISTINCT started_at) FROM worker_registry WHERE status IN ('active', 'backing_off', 'paused')) AS processes
