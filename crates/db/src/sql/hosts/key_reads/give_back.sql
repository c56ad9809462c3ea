-- hosts/key_reads/give_back.sql: ends a read of platform $1 for which nothing was sent, for the reason $2: the next one is due.
UPDATE key_reads SET next_read_at = now(), ended_at = now(), failure = $2 WHERE platform = $1;
