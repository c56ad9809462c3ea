-- media/forum_posts/unknown.sql: ids that a thread has no post of, in their order. $1 thread, $2 ids
SELECT asked.id
  FROM unnest($2::bigint[]) WITH ORDINALITY AS asked (id, place)
 WHERE NOT EXISTS (SELECT FROM forum_posts p WHERE p.thread_id = $1 AND p.external_id = asked.id::text)
 ORDER BY asked.place
