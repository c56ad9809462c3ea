-- media/accounts/known_files.sql: downloaded files that an account owns or shares, and those of its site that no account owns: they may
-- be its own of before, when it was removed and added again. $account may be NULL. $sources: names of its site as a source; without one, no
-- files without an owner. $before: ids. Pairs are compared, since an equal source would let the planner walk all items by id.
(SELECT id, source, source_id, false AS is_ownerless
   FROM media_items
  WHERE account_id = $account AND id < $before AND kind = 'file' AND state = 'downloaded'
  ORDER BY id DESC
  LIMIT $limit)
 UNION
(SELECT i.id, i.source, i.source_id, false
   FROM media_shared_items shared
   JOIN media_items i ON i.id = shared.item_id
  WHERE shared.account_id = $account AND shared.item_id < $before AND i.kind = 'file' AND i.state = 'downloaded'
  ORDER BY shared.item_id DESC
  LIMIT $limit)
 UNION
(SELECT ownerless.id, site.source, ownerless.source_id, true
   FROM unnest($sources::text[]) AS site (source)
  CROSS JOIN LATERAL (SELECT id, source_id
                        FROM media_items i
                       WHERE i.account_id IS NULL AND i.kind = 'file' AND i.state = 'downloaded'
                         AND (i.source, i.id) < (site.source, $before) AND (i.source, i.id) > (site.source, 0)
                       ORDER BY i.source DESC, i.id DESC
                       LIMIT $limit) ownerless)
 ORDER BY id DESC
 LIMIT $limit
