-- The task of store $1 that a worker has.
SELECT id FROM reservations WHERE dispensary_id = $1 AND status IN ('claimed', 'running')
