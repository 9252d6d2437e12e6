-- A conversation has at most one reply in progress, also between replicas of the chat origin: two turns at once would
-- answer each other's messages. A reply whose process died is closed by age before the next one begins.
SET LOCAL ROLE cs_owner;

CREATE UNIQUE INDEX one_running_reply ON bank.reply (customer_id, conversation_id) WHERE state = 'running';

RESET ROLE;
