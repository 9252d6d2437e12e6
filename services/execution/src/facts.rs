//! What the bank knows and a card shows, read together so that a card is one picture.

use std::collections::HashMap;

use countersign_domain::{
    AccountId, ActionId, CardId, Currency, Frequency, MinorUnits, Money, NameCheck, OrderId,
    PayeeId, TransferId, limits::Limits,
};
use countersign_screening::{display_name, holder::compare};
use countersign_store::action::ActionError;
use countersign_texts::Texts;
use sqlx::PgConnection;
use time::{Date, OffsetDateTime};

pub(crate) struct AccountFact {
    pub id: AccountId,
    pub label: String,
    pub iban: String,
    pub currency: Currency,
    pub balance: MinorUnits,
    pub is_default: bool,
}

pub(crate) struct PayeeFact {
    pub id: PayeeId,
    pub name: String,
    pub iban: String,
    /// The holder's name, as safe to look at, where the bank knows it.
    pub holder: Option<String>,
    pub name_check: NameCheck,
    pub saved_year: i32,
    pub paid_before: bool,
    /// Never paid, or for the first time only lately.
    pub is_new: bool,
}

pub(crate) struct CardFact {
    pub id: CardId,
    pub label: String,
    pub last_four: String,
    pub frozen: bool,
}

pub(crate) struct OrderFact {
    pub id: OrderId,
    pub payee: PayeeId,
    pub amount: Money,
    pub frequency: Frequency,
    pub active: bool,
}

pub(crate) struct TransactionFact {
    pub id: TransferId,
    pub counterparty: String,
    pub counterparty_iban: Option<String>,
    pub amount: Money,
    pub day: Date,
    pub incoming: bool,
}

/// What a card says of the customer's passkeys.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PasskeyFact {
    /// How many there are.
    pub count: i64,
    /// Whether a recovery is under way.
    pub recovering: bool,
    /// Since when the oldest stands, while none has stood long enough for the usual limits.
    pub new_since: Option<OffsetDateTime>,
}

/// Everything about the session's customer that cards are drawn from, at one moment.
pub(crate) struct Facts {
    pub now: OffsetDateTime,
    pub today: Date,
    pub rules_version: String,
    /// The language the panel speaks with this customer: the record's `locale`, and every word of a card.
    pub texts: &'static Texts,
    /// How long a payee counts as new after the first payment.
    pub new_payee_seconds: i32,
    /// How long the bank waits before a payment to somebody new that stands out.
    pub cooling_off_seconds: i32,
    /// How long a held payment can wait at all.
    pub hold_seconds_max: i32,
    /// How long a raised limit waits.
    pub limit_cooling_seconds: i32,
    /// How long a payment can be undone after Confirm.
    pub undo_seconds: i32,
    /// Whether the customer, or a notice of theirs, stopped what leaves.
    pub frozen: bool,
    /// Above these amounts a payment waits for an operator.
    pub operator_rules: Vec<Money>,
    /// A payment that takes more of the account than this is asked about where a payee is new.
    pub large_share_percent: i16,
    pub accounts: Vec<AccountFact>,
    pub payees: Vec<PayeeFact>,
    pub cards: Vec<CardFact>,
    pub orders: Vec<OrderFact>,
    /// The newest ones, and every one an open action is about.
    pub transactions: Vec<TransactionFact>,
    pub limits: HashMap<Currency, Limits>,
    pub spent_today: HashMap<Currency, MinorUnits>,
    /// What went to each payee within the time that they count as new.
    pub sent_lately: HashMap<(PayeeId, Currency), MinorUnits>,
    /// The customer's passkeys, as far as a card speaks of them.
    pub passkeys: PasskeyFact,
    /// Why each action that waits wants one, by the codes of `bank.step_up_due`.
    pub step_up_reasons: HashMap<ActionId, Vec<String>>,
    /// More than this in one request wants a passkey.
    pub step_up_over: HashMap<Currency, MinorUnits>,
    /// What waits in payments, per action and currency.
    pub waiting: Vec<(ActionId, Currency, MinorUnits)>,
}

fn currency(code: &str) -> Result<Currency, ActionError> {
    code.parse().map_err(|_| ActionError::Corrupt("currency"))
}

fn amount(count: i64) -> Result<MinorUnits, ActionError> {
    MinorUnits::new(count).ok_or(ActionError::Corrupt("amount"))
}

/// In whose name the accounts of the customer's payees are, where they are accounts of this bank.
async fn holders(connection: &mut PgConnection) -> Result<HashMap<PayeeId, String>, ActionError> {
    let rows = sqlx::query!(
        r#"SELECT payee_id AS "payee_id!", holder AS "holder!" FROM bank.payee_holders()"#
    )
    .fetch_all(connection)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| (PayeeId::from_uuid(row.payee_id), row.holder))
        .collect())
}

impl Facts {
    pub async fn load(connection: &mut PgConnection) -> Result<Self, ActionError> {
        let clock = sqlx::query!(
            r#"SELECT bank.bank_clock() AS "now!", bank.bank_day() AS "today!", rules_version, new_payee_seconds, large_share_percent,
                      cooling_off_seconds, hold_seconds_max, limit_cooling_seconds, bank.my_undo_seconds() AS "undo_seconds!",
                      EXISTS (SELECT FROM bank.payment_freeze WHERE customer_id = (SELECT bank.current_customer()) AND lifted_at IS NULL) AS "frozen!",
                      (SELECT coalesce(panel_language, locale) FROM bank.customer WHERE customer_id = (SELECT bank.current_customer())) AS "language!"
                 FROM bank.setting"#
        )
        .fetch_one(&mut *connection)
        .await?;
        let mut facts = Self {
            now: clock.now,
            today: clock.today,
            rules_version: clock.rules_version,
            texts: countersign_texts::of(&clock.language),
            new_payee_seconds: clock.new_payee_seconds,
            cooling_off_seconds: clock.cooling_off_seconds,
            hold_seconds_max: clock.hold_seconds_max,
            limit_cooling_seconds: clock.limit_cooling_seconds,
            undo_seconds: clock.undo_seconds,
            frozen: clock.frozen,
            operator_rules: Vec::new(),
            large_share_percent: clock.large_share_percent,
            accounts: Vec::new(),
            payees: Vec::new(),
            cards: Vec::new(),
            orders: Vec::new(),
            transactions: Vec::new(),
            limits: HashMap::new(),
            spent_today: HashMap::new(),
            sent_lately: HashMap::new(),
            passkeys: PasskeyFact::default(),
            step_up_reasons: HashMap::new(),
            step_up_over: HashMap::new(),
            waiting: Vec::new(),
        };
        facts.load_accounts(connection).await?;
        facts.load_payees(connection).await?;
        facts.load_targets(connection).await?;
        facts.load_limits(connection).await?;
        facts.load_passkeys(connection).await?;
        Ok(facts)
    }

    async fn load_accounts(&mut self, connection: &mut PgConnection) -> Result<(), ActionError> {
        for row in sqlx::query!(
            r#"SELECT a.account_id, a.label, a.iban, a.currency, a.is_default, b.balance_minor_units
                 FROM bank.account a JOIN bank.account_balance b USING (customer_id, account_id)
                WHERE a.customer_id = (SELECT bank.current_customer()) ORDER BY a.is_default DESC, a.account_id"#
        )
        .fetch_all(&mut *connection)
        .await?
        {
            self.accounts.push(AccountFact {
                id: AccountId::from_uuid(row.account_id),
                label: row.label,
                iban: row.iban,
                currency: currency(&row.currency)?,
                balance: amount(row.balance_minor_units)?,
                is_default: row.is_default,
            });
        }
        Ok(())
    }

    async fn load_payees(&mut self, connection: &mut PgConnection) -> Result<(), ActionError> {
        let holders = holders(connection).await?;
        for row in sqlx::query!(
            r#"SELECT p.payee_id, p.name, p.iban, p.created_at, d.payee_id IS NOT NULL AS "paid!", n.result AS "result?", n.holder AS "near?",
                      coalesce(d.first_paid_at > bank.bank_clock() - (SELECT new_payee_seconds FROM bank.setting) * interval '1 second', true)
                        AS "is_new!"
                 FROM bank.payee p
                 LEFT JOIN bank.name_check n ON n.customer_id = p.customer_id AND n.payee_id = p.payee_id
                  AND n.checked_at > bank.bank_clock() - (SELECT name_check_seconds FROM bank.setting) * interval '1 second'
                 LEFT JOIN bank.payee_paid d ON d.customer_id = p.customer_id AND d.payee_id = p.payee_id
                WHERE p.customer_id = (SELECT bank.current_customer()) ORDER BY p.name, p.payee_id"#
        )
        .fetch_all(&mut *connection)
        .await?
        {
            let id = PayeeId::from_uuid(row.payee_id);
            let holder = holders.get(&id);
            // The bank knows the holders of its own accounts; of others it knows what a check answered lately, and else nothing.
            let name_check = match holder {
                Some(holder) => compare(&row.name, holder),
                None => row
                    .result
                    .and_then(|result| NameCheck::answered(&result))
                    .unwrap_or(NameCheck::Unavailable),
            };
            let holder = holder.cloned().or(row.near);
            self.payees.push(PayeeFact {
                id,
                name_check,
                holder: holder.map(|holder| display_name(&holder).text),
                name: row.name,
                iban: row.iban,
                saved_year: row.created_at.year(),
                paid_before: row.paid,
                is_new: row.is_new,
            });
        }
        for row in sqlx::query!(
            r#"SELECT payee_id AS "payee_id!", currency, sum(amount_minor_units)::bigint AS "sent!" FROM bank.transfer
                WHERE customer_id = (SELECT bank.current_customer()) AND payee_id IS NOT NULL AND state <> 'voided'
                  AND created_at > bank.bank_clock() - (SELECT new_payee_seconds FROM bank.setting) * interval '1 second'
                GROUP BY payee_id, currency"#
        )
        .fetch_all(&mut *connection)
        .await?
        {
            let key = (PayeeId::from_uuid(row.payee_id), currency(&row.currency)?);
            self.sent_lately.insert(key, amount(row.sent)?);
        }
        Ok(())
    }

    async fn load_targets(&mut self, connection: &mut PgConnection) -> Result<(), ActionError> {
        for row in sqlx::query!(
            "SELECT card_id, label, last_four, state FROM bank.card WHERE customer_id = (SELECT bank.current_customer()) ORDER BY card_id"
        )
        .fetch_all(&mut *connection)
        .await?
        {
            self.cards.push(CardFact {
                id: CardId::from_uuid(row.card_id),
                label: row.label,
                last_four: row.last_four,
                frozen: row.state == "frozen",
            });
        }
        for row in sqlx::query!(
            r#"SELECT order_id, payee_id, amount_minor_units, currency, frequency, state FROM bank.standing_order
                WHERE customer_id = (SELECT bank.current_customer()) ORDER BY order_id"#
        )
        .fetch_all(&mut *connection)
        .await?
        {
            self.orders.push(OrderFact {
                id: OrderId::from_uuid(row.order_id),
                payee: PayeeId::from_uuid(row.payee_id),
                amount: Money { amount: amount(row.amount_minor_units)?, currency: currency(&row.currency)? },
                frequency: row.frequency.parse().map_err(|_| ActionError::Corrupt("frequency"))?,
                active: row.state == "active",
            });
        }
        for row in sqlx::query!(
            r#"(SELECT transfer_id, kind, counterparty_name, counterparty_iban, amount_minor_units, currency,
                       (created_at AT TIME ZONE (SELECT time_zone FROM bank.setting))::date AS "day!"
                  FROM bank.transfer
                 WHERE customer_id = (SELECT bank.current_customer()) AND kind IN ('card_payment', 'payment_out', 'payment_in')
                 ORDER BY created_at DESC, transfer_id DESC LIMIT 25)
               UNION
               (SELECT t.transfer_id, t.kind, t.counterparty_name, t.counterparty_iban, t.amount_minor_units, t.currency,
                       (t.created_at AT TIME ZONE (SELECT time_zone FROM bank.setting))::date
                  FROM bank.pending_action a
                  JOIN bank.pending_version v ON v.customer_id = a.customer_id AND v.action_id = a.action_id AND v.version = a.current_version
                  JOIN bank.transfer t ON t.customer_id = v.customer_id AND t.transfer_id = v.transaction_id
                 WHERE a.customer_id = (SELECT bank.current_customer())
                   AND (a.state IN ('pending', 'held') OR a.changed_at > bank.bank_clock() - interval '1 hour'))
               ORDER BY 7 DESC, 1"#
        )
        .fetch_all(&mut *connection)
        .await?
        {
            let (Some(id), Some(kind), Some(counterparty), Some(count), Some(code)) =
                (row.transfer_id, row.kind, row.counterparty_name, row.amount_minor_units, row.currency)
            else {
                return Err(ActionError::Corrupt("transaction"));
            };
            self.transactions.push(TransactionFact {
                id: TransferId::from_uuid(id),
                counterparty,
                counterparty_iban: row.counterparty_iban,
                amount: Money { amount: amount(count)?, currency: currency(&code)? },
                day: row.day,
                incoming: kind == "payment_in",
            });
        }
        Ok(())
    }

    async fn load_limits(&mut self, connection: &mut PgConnection) -> Result<(), ActionError> {
        for row in sqlx::query!(
            r#"SELECT currency, per_transfer_minor_units, per_day_minor_units, pending_total_minor_units, first_payment_minor_units
                 FROM bank.customer_limit WHERE customer_id = (SELECT bank.current_customer())"#
        )
        .fetch_all(&mut *connection)
        .await?
        {
            self.limits.insert(
                currency(&row.currency)?,
                Limits {
                    per_transfer: amount(row.per_transfer_minor_units)?,
                    per_day: amount(row.per_day_minor_units)?,
                    pending_total: amount(row.pending_total_minor_units)?,
                    first_payment: amount(row.first_payment_minor_units)?,
                },
            );
        }
        for row in sqlx::query!(
            "SELECT currency, spent_minor_units FROM bank.spent_day WHERE customer_id = (SELECT bank.current_customer()) AND day = (SELECT bank.bank_day())"
        )
        .fetch_all(&mut *connection)
        .await?
        {
            self.spent_today.insert(currency(&row.currency)?, amount(row.spent_minor_units)?);
        }
        for row in sqlx::query!(
            r#"SELECT a.action_id, v.currency AS "currency!", sum(l.amount_minor_units)::bigint AS "amount!"
                 FROM bank.pending_action a
                 JOIN bank.pending_version v ON v.customer_id = a.customer_id AND v.action_id = a.action_id AND v.version = a.current_version
                 JOIN bank.pending_line l ON l.customer_id = v.customer_id AND l.action_id = v.action_id AND l.version = v.version
                WHERE a.customer_id = (SELECT bank.current_customer()) AND a.kind IN ('transfer', 'refund')
                  AND (a.state = 'held' OR a.state = 'pending' AND a.expires_at > bank.bank_clock())
                  AND v.currency IS NOT NULL AND l.own_account_id IS NULL AND l.amount_minor_units IS NOT NULL
                GROUP BY a.action_id, v.currency"#
        )
        .fetch_all(&mut *connection)
        .await?
        {
            self.waiting.push((ActionId::from_uuid(row.action_id), currency(&row.currency)?, amount(row.amount)?));
        }
        for row in sqlx::query!(
            "SELECT currency, above_minor_units FROM bank.operator_rule WHERE ended_at IS NULL"
        )
        .fetch_all(&mut *connection)
        .await?
        {
            self.operator_rules.push(Money {
                amount: amount(row.above_minor_units)?,
                currency: currency(&row.currency)?,
            });
        }
        Ok(())
    }

    async fn load_passkeys(&mut self, connection: &mut PgConnection) -> Result<(), ActionError> {
        let row = sqlx::query!(
            r#"SELECT count(*) AS "count!",
                      EXISTS (SELECT FROM bank.passkey_recovery r
                        WHERE r.customer_id = (SELECT bank.current_customer()) AND r.ended_at IS NULL) AS "recovering!",
                      CASE WHEN bool_and(NOT p.vouched AND p.created_at > bank.bank_clock()
                          - (SELECT passkey_new_seconds FROM bank.setting) * interval '1 second') THEN min(p.created_at) END AS new_since
                 FROM bank.passkey p WHERE p.customer_id = (SELECT bank.current_customer()) AND p.removed_at IS NULL"#
        )
        .fetch_one(&mut *connection)
        .await?;
        self.passkeys = PasskeyFact {
            count: row.count,
            recovering: row.recovering,
            new_since: row.new_since,
        };
        for row in sqlx::query!(
            r#"SELECT action_id, bank.step_up_reasons(action_id) AS "reasons!" FROM bank.pending_action
                WHERE customer_id = (SELECT bank.current_customer()) AND state IN ('pending', 'held')"#
        )
        .fetch_all(&mut *connection)
        .await?
        {
            self.step_up_reasons
                .insert(ActionId::from_uuid(row.action_id), row.reasons);
        }
        for row in sqlx::query!(
            r#"SELECT currency, coalesce(step_up_over_minor_units, first_payment_minor_units) AS "over!"
                 FROM bank.customer_limit WHERE customer_id = (SELECT bank.current_customer())"#
        )
        .fetch_all(&mut *connection)
        .await?
        {
            self.step_up_over
                .insert(currency(&row.currency)?, amount(row.over)?);
        }
        Ok(())
    }

    pub fn account(&self, id: AccountId) -> Option<&AccountFact> {
        self.accounts.iter().find(|fact| fact.id == id)
    }

    pub fn payee(&self, id: PayeeId) -> Option<&PayeeFact> {
        self.payees.iter().find(|fact| fact.id == id)
    }

    pub fn card(&self, id: CardId) -> Option<&CardFact> {
        self.cards.iter().find(|fact| fact.id == id)
    }

    pub fn order(&self, id: OrderId) -> Option<&OrderFact> {
        self.orders.iter().find(|fact| fact.id == id)
    }

    pub fn transaction(&self, id: TransferId) -> Option<&TransactionFact> {
        self.transactions.iter().find(|fact| fact.id == id)
    }

    /// The account that money leaves when the customer names none: their default where it has the currency, else the only
    /// one that has it.
    pub fn default_account(&self, currency: Currency) -> Option<AccountId> {
        let mut of_currency = self
            .accounts
            .iter()
            .filter(|account| account.currency == currency);
        let first = of_currency.next()?;
        if first.is_default || of_currency.next().is_none() {
            return Some(first.id);
        }
        None
    }

    /// What waits in other actions than this one.
    pub fn waiting_beside(&self, action: ActionId, currency: Currency) -> Option<MinorUnits> {
        self.waiting
            .iter()
            .filter(|(other, other_currency, _)| *other != action && *other_currency == currency)
            .try_fold(MinorUnits::ZERO, |sum, (_, _, amount)| {
                sum.checked_add(*amount)
            })
    }
}
