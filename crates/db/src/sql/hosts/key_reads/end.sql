-- hosts/key_reads/end.sql: records the result of a read of platform $1: why it gave no key ($2), or null.
UPDATE key_reads SET ended_at = now(), failure = $2 WHERE platform = $1;
