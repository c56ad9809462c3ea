-- Files of payloads whose rows retention has deleted. A path is written in the transaction that deletes its row, and goes once its file
-- has gone: a process that is killed in between leaves it to the next run, and the sweep of files without a row knows it.
CREATE TABLE payload_removals (
  storage_path text PRIMARY KEY,
  bytes        bigint NOT NULL,
  expired_at   timestamptz NOT NULL DEFAULT now()
);
