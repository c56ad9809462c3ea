-- hosts/key_reads/get.sql: the last read of a key of platform $1; it is under way for at most $2 seconds.
SELECT json_time(begun_at) AS begun_at, json_time(next_read_at) AS next_read_at, dispensary_id AS store,
       json_time(ended_at) AS ended_at, failure,
       ended_at IS NULL AND begun_at > now() - make_interval(secs => $2::float8) AS is_under_way
  FROM key_reads
 WHERE platform = $1;
