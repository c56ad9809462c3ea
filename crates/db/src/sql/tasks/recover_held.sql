-- tasks/recover_held.sql: puts tasks back that their holder cannot end.
SELECT requeued, failed FROM recover_held($ids, $fences, $workers, $is_blamed);
