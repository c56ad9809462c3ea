-- appearances/replace.sql: replaces a person's appearances by the service's list; returns how many are new, and how many are gone.
-- $1 person, $2 appearances as a list of JSON, $3 ids of listed ones that could not be read; NULL: any may be among them
WITH listed AS (
  SELECT DISTINCT ON (credit_id) *
    FROM jsonb_to_recordset($2) AS l (credit_id text, media_type text, tmdb_id bigint, title text, "character" text, department text,
                                      job text, episode_count int, released_on date)
   ORDER BY credit_id
), written AS (
  INSERT INTO appearances AS a (person_id, credit_id, media_type, tmdb_id, title, "character", department, job, episode_count, released_on)
  SELECT $1, credit_id, media_type, tmdb_id, title, "character", department, job, episode_count, released_on FROM listed
      ON CONFLICT (person_id, credit_id) DO UPDATE
     SET media_type = excluded.media_type, tmdb_id = excluded.tmdb_id, title = excluded.title, "character" = excluded."character",
         department = excluded.department, job = excluded.job, episode_count = excluded.episode_count,
         released_on = excluded.released_on, gone_at = NULL, updated_at = now()
   WHERE (a.media_type, a.tmdb_id, a.title, a."character", a.department, a.job, a.episode_count, a.released_on, a.gone_at)
         IS DISTINCT FROM (excluded.media_type, excluded.tmdb_id, excluded.title, excluded."character", excluded.department, excluded.job,
                           excluded.episode_count, excluded.released_on, NULL)
  RETURNING xmax = 0 AS is_new
), gone AS (
  UPDATE appearances a
     SET gone_at = now(), updated_at = now()
   WHERE a.person_id = $1 AND a.gone_at IS NULL AND a.credit_id <> ALL ($3::text[]) AND NOT EXISTS (SELECT FROM listed l WHERE l.credit_id = a.credit_id)
  RETURNING 1
)
SELECT (SELECT count(*) FROM written WHERE is_new) AS added, (SELECT count(*) FROM gone) AS gone
