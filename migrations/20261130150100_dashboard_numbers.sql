-- How long replies took, and series over time, for operators. No text of a reply stands in these columns.
SET LOCAL ROLE cs_owner;
GRANT SELECT (customer_id, conversation_id, reply_id, state, started_at, ended_at) ON bank.reply TO dashboard;
CREATE POLICY operators_read ON bank.reply FOR SELECT TO dashboard USING ((SELECT bank.current_operator()) IS NOT NULL);

-- Rows come in the order of their time: a range of blocks finds a span of it, and costs a writer next to nothing.
CREATE INDEX event_by_time ON bank.bank_event USING brin (recorded_at);
CREATE INDEX reply_by_time ON bank.reply USING brin (started_at);
-- An operator finds what happened by the leaf that stands on a receipt.
CREATE INDEX event_by_leaf ON bank.bank_event (leaf_hash);
RESET ROLE;
