-- changes/rules/notify.sql: writes notifications of a rule, and moves it on in the feed.
SELECT FROM notify_of_changes($rule, $seq, $n, $subjects, $bodies);
