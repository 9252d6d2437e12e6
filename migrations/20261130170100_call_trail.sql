-- What the assistant asked the bank's tools for, with the door's receipt of each call: the chat page says what was looked
-- at from here and not from the assistant's own word, and an operator goes from a number to the receipts behind it.
--
-- The bank server writes a line in the transaction of the call, from the claims that the door signed. No arguments and
-- no answer stand in it.
SET LOCAL ROLE cs_owner;

CREATE TABLE bank.tool_call (
  customer_id uuid NOT NULL REFERENCES bank.customer,
  jti text NOT NULL,
  conversation_id uuid NOT NULL,
  grant_id uuid NOT NULL,
  tool text NOT NULL CONSTRAINT tool_call_tool CHECK (tool ~ '^[a-z_]{1,64}$'),
  outcome text NOT NULL CONSTRAINT tool_call_outcome CHECK (outcome ~ '^[a-z_]{1,64}$'),
  record_leaf bytea NOT NULL CONSTRAINT tool_call_leaf_length CHECK (length(record_leaf) = 32),
  recorded_at timestamptz NOT NULL DEFAULT bank.bank_clock(),
  PRIMARY KEY (customer_id, jti)
);
CREATE INDEX tool_call_by_grant ON bank.tool_call (customer_id, grant_id);
CREATE INDEX tool_call_by_time ON bank.tool_call USING brin (recorded_at);
CREATE INDEX tool_call_by_leaf ON bank.tool_call (record_leaf);
CREATE TRIGGER tool_call_is_append_only BEFORE UPDATE OR DELETE ON bank.tool_call FOR EACH ROW EXECUTE FUNCTION bank.refuse_change();
ALTER TABLE bank.tool_call ENABLE ROW LEVEL SECURITY;
ALTER TABLE bank.tool_call FORCE ROW LEVEL SECURITY;
GRANT INSERT (customer_id, jti, conversation_id, grant_id, tool, outcome, record_leaf) ON bank.tool_call TO bank_mcp;
CREATE POLICY bank_records ON bank.tool_call FOR INSERT TO bank_mcp
  WITH CHECK (customer_id = (SELECT bank.current_customer()) AND conversation_id = (SELECT bank.current_conversation())
              AND grant_id = (SELECT bank.current_grant()));
GRANT SELECT ON bank.tool_call TO intake, dashboard;
CREATE POLICY intake_reads ON bank.tool_call FOR SELECT TO intake USING (customer_id = (SELECT bank.current_customer()));
CREATE POLICY operators_read ON bank.tool_call FOR SELECT TO dashboard USING ((SELECT bank.current_operator()) IS NOT NULL);

-- The turn of a reply.
ALTER TABLE bank.reply ADD COLUMN grant_id uuid;
GRANT INSERT (grant_id) ON bank.reply TO intake;
GRANT SELECT (grant_id) ON bank.reply TO dashboard;

-- Calls that the door allowed and the bank turned away, because the turn was over or the token was used before. There is no
-- session then and so no customer to write for: the door's receipt says whose call it was.
CREATE TABLE bank.turned_away (
  event_id uuid PRIMARY KEY,
  reason text NOT NULL CONSTRAINT turned_away_reason CHECK (reason IN ('turn_ended', 'used_before')),
  tool text NOT NULL CONSTRAINT turned_away_tool CHECK (tool ~ '^[a-z_]{1,64}$'),
  record_leaf bytea NOT NULL CONSTRAINT turned_away_leaf_length CHECK (length(record_leaf) = 32),
  recorded_at timestamptz NOT NULL DEFAULT bank.bank_clock()
);
CREATE INDEX turned_away_by_time ON bank.turned_away (recorded_at DESC);
CREATE TRIGGER turned_away_is_append_only BEFORE UPDATE OR DELETE ON bank.turned_away FOR EACH ROW EXECUTE FUNCTION bank.refuse_change();
ALTER TABLE bank.turned_away ENABLE ROW LEVEL SECURITY;
ALTER TABLE bank.turned_away FORCE ROW LEVEL SECURITY;
GRANT INSERT (event_id, reason, tool, record_leaf) ON bank.turned_away TO bank_mcp;
CREATE POLICY bank_records ON bank.turned_away FOR INSERT TO bank_mcp WITH CHECK (true);
GRANT SELECT ON bank.turned_away TO dashboard;
CREATE POLICY operators_read ON bank.turned_away FOR SELECT TO dashboard USING ((SELECT bank.current_operator()) IS NOT NULL);

-- An agent that reports what is not so, or not in the form that was agreed, and advice that only a swindler gives.
ALTER TABLE bank.chat_event DROP CONSTRAINT chat_event_kind;
ALTER TABLE bank.chat_event ADD CONSTRAINT chat_event_kind CHECK (kind IN
  ('canary_alarm', 'secret_asked', 'injection_flagged', 'masked', 'foreign_contact', 'guardrail_hit', 'claim_corrected',
   'agent_misreport', 'scam_advice'));

-- The chat page speaks the panel's language.
GRANT SELECT (panel_language) ON bank.customer TO intake;
RESET ROLE;
