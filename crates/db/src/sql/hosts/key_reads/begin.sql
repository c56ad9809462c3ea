-- hosts/key_reads/begin.sql: gives the read of a platform's key to this process, if none was begun within $seconds.
INSERT INTO key_reads AS last (platform, begun_at, next_read_at, dispensary_id)
VALUES ($platform, now(), now() + make_interval(secs => $seconds::float8), $store)
    ON CONFLICT (platform) DO UPDATE
   SET begun_at = now(), next_read_at = excluded.next_read_at, dispensary_id = excluded.dispensary_id, ended_at = NULL,
       failure = NULL
 WHERE last.next_read_at <= now();
