-- changes/rules/quiet.sql: notes that a rule notifies of products; returns those of which it may. $1 rule, $2 products
SELECT note_changed_products($1, $2);
