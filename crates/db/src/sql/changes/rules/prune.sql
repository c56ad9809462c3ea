-- changes/rules/prune.sql: removes notes of products whose rules are not quiet about them any more, $1 at most.
DELETE FROM change_rule_products
 WHERE (rule_id, product_id) IN (
         SELECT p.rule_id, p.product_id
           FROM change_rule_products p
           JOIN change_rules r ON r.id = p.rule_id
          WHERE p.notified_at < now() - make_interval(mins => r.quiet_minutes)
          ORDER BY p.notified_at
          LIMIT $1);
