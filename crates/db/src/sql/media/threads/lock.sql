-- media/threads/lock.sql: keeps a thread, which a person may be removing. $1 id
SELECT id FROM watched_threads WHERE id = $1 FOR KEY SHARE
