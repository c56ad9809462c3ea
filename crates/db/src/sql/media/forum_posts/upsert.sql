-- media/forum_posts/upsert.sql: adds new posts of a thread and writes changed ones; returns the number of new ones. $1 thread, $2 posts
-- as a list of JSON; what a changed one no longer says of itself, such as its deleted author, stays
WITH written AS (
  INSERT INTO forum_posts AS p (thread_id, external_id, number, author, posted_at, text)
  SELECT DISTINCT ON (external_id) $1::bigint, external_id, number, author, posted_at, text
    FROM jsonb_to_recordset($2) AS read (external_id text, number int, author text, posted_at timestamptz, text text)
   ORDER BY external_id
      ON CONFLICT (thread_id, external_id) DO UPDATE
     SET number = coalesce(excluded.number, p.number), author = coalesce(nullif(excluded.author, ''), p.author),
         posted_at = coalesce(excluded.posted_at, p.posted_at), text = excluded.text, updated_at = now()
   WHERE (p.number, p.author, p.posted_at, p.text)
         IS DISTINCT FROM (coalesce(excluded.number, p.number), coalesce(nullif(excluded.author, ''), p.author),
                           coalesce(excluded.posted_at, p.posted_at), excluded.text)
  RETURNING xmax = 0 AS is_new)
SELECT count(*) FILTER (WHERE is_new) FROM written
