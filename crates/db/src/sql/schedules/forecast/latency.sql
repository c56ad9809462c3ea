-- schedules/forecast/latency.sql: milliseconds that an answer of host $1 usually takes.
SELECT latency_ms FROM hosts WHERE host = $1
