SELECT lost, id, fence, worker_id, role, dispensary_id, platform, payload, priority, retry_count, loss_count, waited
  FROM settle_and_claim($1, $2, $3, $4, $5, $6, $7, make_interval(secs => $8), $9)
