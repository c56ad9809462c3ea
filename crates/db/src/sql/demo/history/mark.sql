-- demo/history/mark.sql: pages say that all before now is simulated
UPDATE installation SET simulated_until = now();
