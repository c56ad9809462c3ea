-- workers/order.sql: orders worker $1, which is registered, to do $2. It obeys with its next heartbeat.
INSERT INTO worker_commands (worker_id, command) SELECT worker_id, $2 FROM worker_registry WHERE worker_id = $1;
