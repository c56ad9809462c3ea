-- tasks/settle_and_claim.sql: completes runs, and claims a task for each of $claimers, names of workers. Read by position.
SELECT is_lost, id, fence, worker_id, role, dispensary_id, platform, payload, priority, retry_count, loss_count, waited, account
  FROM settle_and_claim($ids, $fences, $workers, $results, $details, $roles, $every_crawl_role, $claimers,
                        make_interval(secs => $lease), $allow_suspect, $token::text::uuid);
