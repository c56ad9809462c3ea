-- media/appearances/replace.sql: replaces a person's appearances by the service's list; returns how many are new, how many are gone, and how many
-- stay though they are missing: a list without any known one is more likely the service's fault.
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
), known AS (
  SELECT a.credit_id, a.credit_id = ANY ($3::text[]) OR EXISTS (SELECT FROM listed l WHERE l.credit_id = a.credit_id) AS is_listed
    FROM appearances a
   WHERE a.person_id = $1 AND a.gone_at IS NULL AND $3::text[] IS NOT NULL
), gone AS (
  UPDATE appearances a
     SET gone_at = now(), updated_at = now()
    FROM known k
   WHERE a.person_id = $1 AND a.credit_id = k.credit_id AND NOT k.is_listed AND EXISTS (SELECT FROM known WHERE is_listed)
  RETURNING 1
)
SELECT (SELECT count(*) FROM written WHERE is_new) AS added, (SELECT count(*) FROM gone) AS gone,
       (SELECT CASE WHEN bool_or(is_listed) THEN 0 ELSE count(*) END FROM known) AS kept
