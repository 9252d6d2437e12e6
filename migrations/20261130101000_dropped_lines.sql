-- A line that the customer takes out of an open request on the panel: an event of its own, and a pair that is used up.
--
-- The entry of a drop names the line, and as its value the newest message there was: mentions up to it are used up. The bank's role
-- reads these entries, and no others, so that a request cannot bring back what the customer took out.
SET LOCAL ROLE cs_owner;

ALTER TABLE bank.bank_event DROP CONSTRAINT event_kind;
ALTER TABLE bank.bank_event ADD CONSTRAINT event_kind CHECK (kind IN ('request_created', 'superseded', 'cancelled', 'expired', 'refused',
  'slot_filled', 'line_dropped', 'kept', 'card_shown', 'confirmed', 'posted'));

ALTER TABLE bank.panel_entry ADD CONSTRAINT drop_names_line_and_message
  CHECK (slot <> 'drop' OR (line_number > 0 AND value ~ '^[0-9]{1,18}$'));
GRANT SELECT (customer_id, action_id, version, slot, line_number, value) ON bank.panel_entry TO bank_mcp;
CREATE POLICY dropped_lines_bank ON bank.panel_entry FOR SELECT TO bank_mcp
  USING (customer_id = (SELECT bank.current_customer()) AND slot = 'drop');

RESET ROLE;
GRANT CREATE ON SCHEMA bank TO cs_recorder;
SET LOCAL ROLE cs_recorder;

CREATE OR REPLACE FUNCTION bank.append_event(event_kind text, event_action uuid, event_payload bytea) RETURNS bigint
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = '' SET row_security = on
  AS $$
DECLARE
  which uuid := bank.current_customer();
BEGIN
  IF which IS NULL THEN
    RAISE EXCEPTION 'no live session' USING ERRCODE = 'CS001';
  END IF;
  IF NOT ((session_user = 'bank_mcp' AND event_kind IN ('request_created', 'superseded'))
       OR (session_user = 'panel' AND event_kind IN ('card_shown', 'cancelled', 'slot_filled', 'line_dropped', 'kept', 'expired'))) THEN
    RAISE EXCEPTION 'this login does not record that' USING ERRCODE = 'CS003';
  END IF;
  RETURN bank.append_event_for(which, event_kind, event_action, event_payload);
END
$$;

RESET ROLE;
REVOKE CREATE ON SCHEMA bank FROM cs_recorder;
