-- Tasks that wait for a host whose breaker is open.

-- Makes the tasks that wait for this host due, because its breaker has closed: one after the other, at the rate of requests to the host
-- (`per_second`; 0 = no limit), the most urgent first. A task whose row another session has locked keeps its time.
CREATE OR REPLACE FUNCTION wake_tasks_of_host(of_host text, per_second double precision) RETURNS void LANGUAGE plpgsql
SET xmlbinary = hex SET plan_cache_mode = force_generic_plan SET enable_seqscan = off SET enable_bitmapscan = off
SET jit = off AS $f$
BEGIN
  UPDATE worker_tasks t
     SET scheduled_for = least(t.scheduled_for, now() + woken.nth * make_interval(secs => coalesce(1 / nullif(per_second, 0), 0))),
         waits_for_host = NULL, updated_at = now()
    FROM (SELECT w.id, row_number() OVER (ORDER BY w.priority DESC, w.id) - 1 AS nth
            FROM (SELECT l.id, l.priority FROM worker_tasks l
                   WHERE l.status = 'pending' AND l.waits_for_host = of_host
                     FOR NO KEY UPDATE SKIP LOCKED) w) woken
   WHERE t.id = woken.id;
END $f$;

-- Wakes the tasks whenever a breaker closes, by a probe or by an operator, through the program or at psql, and when the host is forgotten.
CREATE OR REPLACE FUNCTION hosts_wake_tasks() RETURNS trigger LANGUAGE plpgsql AS $f$
BEGIN
  PERFORM wake_tasks_of_host(OLD.host, CASE WHEN TG_OP = 'UPDATE' THEN NEW.rate ELSE OLD.rate END);
  RETURN NULL;
END $f$;

CREATE OR REPLACE TRIGGER wake_tasks AFTER UPDATE OF breaker ON hosts FOR EACH ROW
  WHEN (OLD.breaker <> 'closed' AND NEW.breaker = 'closed')
  EXECUTE FUNCTION hosts_wake_tasks();

CREATE OR REPLACE TRIGGER wake_tasks_of_forgotten AFTER DELETE ON hosts FOR EACH ROW
  WHEN (OLD.breaker <> 'closed')
  EXECUTE FUNCTION hosts_wake_tasks();
