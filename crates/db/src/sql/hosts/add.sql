-- hosts/add.sql: makes the row of host $1, unless another process has just done so.
INSERT INTO hosts (host) VALUES ($1) ON CONFLICT DO NOTHING;
