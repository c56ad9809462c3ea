-- hosts/key_reads/get.sql: the last read of a key of platform $1.
SELECT begun_at, next_read_at, dispensary_id AS store, ended_at, failure,
       ended_at IS NULL AND begun_at > now() - make_interval(secs => $2::float8) AS is_under_way
  FROM key_reads
 WHERE platform = $1;
