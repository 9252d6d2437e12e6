// What the chat's origin and the model side leave in the tables: messages of Ada's and the requests made of them.

/** Requests of one bank. */
export function requestsOf(bank) {
  let conversations = 0;
  const ada = "(SELECT customer_id FROM bank.customer WHERE display_name = 'Ada')";
  const quoted = (text) => `'${text.replaceAll("'", "''")}'`;

  /** What Ada typed in a conversation, as the chat's origin records it. */
  async function writes(text, conversation = ++conversations) {
    const talk = `md5('requests ${conversation}')::uuid`;
    await bank.plant(
      `INSERT INTO bank.conversation (customer_id, conversation_id) VALUES (${ada}, ${talk}) ON CONFLICT DO NOTHING;
       INSERT INTO bank.utterance (customer_id, conversation_id, utterance_id, client_message_id, body)
       VALUES (${ada}, ${talk}, gen_random_uuid(), gen_random_uuid(), ${quoted(text)})`,
    );
    return conversation;
  }

  /** What the model side asks for in that conversation: a transfer, perhaps in place of an older one. */
  async function asks(conversation, { payee = null, amount = null, instead = null }) {
    const [{ id }] = await bank.query("SELECT gen_random_uuid()::text AS id");
    const talk = `md5('requests ${conversation}')::uuid`;
    const to = payee === null ? "NULL" : `(SELECT payee_id FROM bank.payee WHERE customer_id = ${ada} AND name = ${quoted(payee)})`;
    await bank.plant(
      `${instead === null ? "" : `UPDATE bank.pending_action SET state = 'superseded', superseded_by = '${id}' WHERE action_id = '${instead.id}';`}
       INSERT INTO bank.pending_action (customer_id, action_id, conversation_id, kind, target_key, grounded_through)
       VALUES (${ada}, '${id}', ${talk}, 'transfer', 'transfer', (SELECT max(sequence) FROM bank.utterance WHERE conversation_id = ${talk}));
       INSERT INTO bank.pending_version (customer_id, action_id, version, currency, from_account_id, rules_version, provenance_version)
       SELECT customer_id, '${id}', 1, currency, account_id, 'rules/1', 'provenance/2' FROM bank.account WHERE customer_id = ${ada} AND is_default;
       INSERT INTO bank.pending_line (customer_id, action_id, version, line_number, payee_id, amount_minor_units)
       VALUES (${ada}, '${id}', 1, 1, ${to}, ${amount ?? "NULL"})`,
    );
    return { id, selector: `#card-act_${id.replaceAll("-", "")}`, conversation };
  }

  /** A transfer that was asked for and prepared, perhaps in place of an older one. */
  const transfer = async (text, asked) => asks(await writes(text, asked.instead?.conversation), asked);

  return {
    writes,
    asks,
    transfer,
    /** A request for a number of euros to Bob, asked for and prepared. */
    toBob: (euros) => transfer(`Send ${euros} to Bob`, { payee: "Bob Smith", amount: euros * 100 }),
    /** Ends everything that waits. */
    clear: () => bank.plant("UPDATE bank.pending_action SET state = 'cancelled' WHERE state IN ('pending', 'held')"),
  };
}
