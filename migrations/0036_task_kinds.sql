-- Kinds of tasks, which `migrate` fills from the program, in place of lists of roles in functions, triggers and indexes.

CREATE TABLE task_kinds (
  name text PRIMARY KEY,       -- the role of the tasks
  family text NOT NULL,        -- whose workers claim them: 'crawl', 'media', or 'service', which workers of both claim
  notifies boolean NOT NULL,   -- the end of a job, or the failure of a crawl, is an event
  account_arg text,            -- the argument that names the account of a task that has none
  key_arg text                 -- the argument that distinguishes tasks of one account
);

-- Constants, so that no row is rewritten but those of the small families.
ALTER TABLE worker_tasks ADD COLUMN family text NOT NULL DEFAULT 'crawl', ADD COLUMN notifies boolean NOT NULL DEFAULT true;
UPDATE worker_tasks SET family = 'media'
 WHERE role IN ('scrape_account', 'download_media', 'paid_content_sync', 'paid_content_creator', 'forum_scrape',
                'youtube_monitor', 'easynews_monitor', 'appearances_sync');
UPDATE worker_tasks SET family = 'service', notifies = false WHERE role = 'notify';
ALTER TABLE worker_tasks ALTER COLUMN family DROP DEFAULT, ALTER COLUMN notifies DROP DEFAULT;

-- The trigger that reads the kind refuses an unknown role.
ALTER TABLE worker_tasks DROP CONSTRAINT IF EXISTS worker_tasks_role_check;

-- A worker of all crawl roles claims from the crawl family: this index returns its ready tasks, best first, without reading the backlog of
-- the other family.
DROP INDEX worker_tasks_ready_by_family;
CREATE INDEX worker_tasks_ready_by_family ON worker_tasks (family, priority DESC, id) WHERE status = 'pending' AND ready;
DROP FUNCTION role_family(text);
DROP FUNCTION IF EXISTS crawl_roles();
DELETE FROM schema_objects WHERE name = '01_roles';

-- worker_tasks_media takes its place once it is built.
DROP INDEX IF EXISTS worker_tasks_jobs;
