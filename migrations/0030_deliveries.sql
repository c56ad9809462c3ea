-- An id that a notification has at its receivers, unique in the world, and what became of a mail at each of its recipients.

ALTER TABLE notifications
  ADD COLUMN message_id text,   -- null: 'msg_' and the id, as before this column
  ADD COLUMN recipients jsonb NOT NULL DEFAULT '{}';
ALTER TABLE notifications ALTER COLUMN message_id SET DEFAULT 'msg_' || replace(gen_random_uuid()::text, '-', '');
-- one that was tried keeps the id under which its receiver knows it
UPDATE notifications SET message_id = DEFAULT WHERE state = 'pending' AND attempts = 0;
