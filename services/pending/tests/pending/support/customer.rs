//! A customer, what they own, and the model that serves their turn.

use std::collections::HashMap;

use countersign_domain::{
    AccountId, ActionId, CardId, ConversationId, CustomerId, OrderId, PayeeId, Secret, TransferId,
};
use countersign_pending::{
    OrderAsked, PaymentAsked, Request, RequestError, Requested, Target, TransferAsked,
};
use countersign_store::session;
use sqlx::PgPool;
use uuid::Uuid;

use super::{Bank, bank::secret};

/// A turn's life, in seconds.
const TURN_SECONDS: i32 = 120;

/// A customer in a conversation.
pub struct Customer<'b> {
    pub(super) bank: &'b Bank,
    /// Who.
    pub id: CustomerId,
    /// Where they talk now.
    pub conversation: ConversationId,
    pub(super) panel_secret: Secret,
    accounts: HashMap<&'static str, AccountId>,
    payees: HashMap<&'static str, PayeeId>,
    cards: HashMap<&'static str, CardId>,
    /// The standing order for the rent: 850.00 EUR monthly to Landlord.
    pub rent: OrderId,
    /// 64.10 EUR paid by card at Corner Shop yesterday.
    pub card_payment: TransferId,
    /// 45.00 EUR received from Sam Field two days ago.
    pub incoming: TransferId,
}

/// Label, kind, currency, balance in minor units, default, IBAN's digits (each customer's own country code keeps them apart).
const ACCOUNTS: [(&str, &str, &str, i64, bool); 4] = [
    ("Current", "current", "EUR", 500_000, true),
    ("Savings", "savings", "EUR", 300_000, false),
    ("Travel money", "travel", "JPY", 48_000, false),
    ("Reserve", "reserve", "KWD", 95_250, false),
];

/// Name and how often paid.
const PAYEES: [(&str, i64); 7] = [
    ("Alice", 9),
    ("Bob", 7),
    ("Carol", 4),
    ("Landlord", 24),
    // Never paid before.
    ("Dora", 0),
    ("Erin", 0),
    // The number of this one is the customer's own account.
    ("Diego", 3),
];

const CARDS: [(&str, &str, &str); 2] = [
    ("Everyday card", "debit", "4821"),
    ("Credit card", "credit", "0077"),
];

impl<'b> Customer<'b> {
    pub(super) async fn join(bank: &'b Bank, name: &str) -> Self {
        let id = CustomerId::from_uuid(Uuid::new_v4());
        let digits = id.uuid().as_u128() % 10_000_000_000;
        let admin = &bank.admin;
        let run = |statement: &'static str| sqlx::query(statement).bind(id.uuid());
        run("INSERT INTO bank.customer (customer_id, display_name, canary_code) VALUES ($1, $2, 'TZ4KQ7WMX2RFH9CB')")
            .bind(name)
            .execute(admin)
            .await
            .expect("customer");
        for statement in [
            "INSERT INTO bank.customer_lock (customer_id) VALUES ($1)",
            "INSERT INTO bank.event_head (customer_id) VALUES ($1)",
            "INSERT INTO bank.profile (customer_id) VALUES ($1)",
            "INSERT INTO bank.customer_limit (customer_id, currency, per_transfer_minor_units, per_day_minor_units,
               pending_total_minor_units, first_payment_minor_units)
             SELECT $1, c, 150000, 200000, 180000, 25000 FROM unnest(ARRAY['EUR', 'JPY', 'KWD']) AS c",
        ] {
            run(statement).execute(admin).await.expect("customer");
        }
        let mut accounts = HashMap::new();
        for (number, (label, kind, currency, balance, is_default)) in (0..).zip(ACCOUNTS) {
            let account = Uuid::new_v4();
            run("INSERT INTO bank.account (customer_id, account_id, label, kind, currency, is_default, iban) VALUES ($1, $2, $3, $4, $5, $6, $7)")
                .bind(account)
                .bind(label)
                .bind(kind)
                .bind(currency)
                .bind(is_default)
                .bind(format!("DE10{digits:010}{number:04}"))
                .execute(admin)
                .await
                .expect("account");
            run("INSERT INTO bank.account_balance (customer_id, account_id, balance_minor_units) VALUES ($1, $2, $3)")
                .bind(account)
                .bind(balance)
                .execute(admin)
                .await
                .expect("balance");
            accounts.insert(label, AccountId::from_uuid(account));
        }
        let mut payees = HashMap::new();
        for (number, (name, payments)) in (0..).zip(PAYEES) {
            let payee = Uuid::new_v4();
            let iban = if name == "Diego" {
                format!("DE10{digits:010}0000")
            } else {
                format!("GB20{digits:010}{number:04}")
            };
            run("INSERT INTO bank.payee (customer_id, payee_id, name, iban) VALUES ($1, $2, $3, $4)")
                .bind(payee)
                .bind(name)
                .bind(iban)
                .execute(admin)
                .await
                .expect("payee");
            if payments > 0 {
                run("INSERT INTO bank.payee_paid (customer_id, payee_id, first_paid_at, payments_count) VALUES ($1, $2, bank.bank_clock() - interval '30 days', $3)")
                    .bind(payee)
                    .bind(payments)
                    .execute(admin)
                    .await
                    .expect("payee");
            }
            payees.insert(name, PayeeId::from_uuid(payee));
        }
        let mut cards = HashMap::new();
        for (label, kind, last_four) in CARDS {
            let card = Uuid::new_v4();
            run("INSERT INTO bank.card (customer_id, card_id, label, kind, last_four) VALUES ($1, $2, $3, $4, $5)")
                .bind(card)
                .bind(label)
                .bind(kind)
                .bind(last_four)
                .execute(admin)
                .await
                .expect("card");
            cards.insert(last_four, CardId::from_uuid(card));
        }
        let rent = Uuid::new_v4();
        run("INSERT INTO bank.standing_order (customer_id, order_id, account_id, payee_id, name, amount_minor_units, currency, frequency, start_date)
             VALUES ($1, $2, $3, $4, 'rent', 85000, 'EUR', 'monthly', bank.bank_day() - 40)")
            .bind(rent)
            .bind(accounts["Current"].uuid())
            .bind(payees["Landlord"].uuid())
            .execute(admin)
            .await
            .expect("order");
        let (card_payment, incoming) = (Uuid::new_v4(), Uuid::new_v4());
        for (transfer, kind, amount, counterparty, iban, days) in [
            (
                card_payment,
                "card_payment",
                6410_i64,
                "Corner Shop",
                None,
                1,
            ),
            (
                incoming,
                "payment_in",
                4500,
                "Sam Field",
                Some("GB33ZZZZ12345678901234"),
                2,
            ),
        ] {
            run("INSERT INTO bank.transfer (customer_id, transfer_id, account_id, kind, state, amount_minor_units, currency,
                   counterparty_name, counterparty_iban, created_at, posted_at)
                 VALUES ($1, $2, $3, $4, 'posted', $5, 'EUR', $6, $7, bank.bank_clock() - make_interval(days => $8), bank.bank_clock())")
                .bind(transfer)
                .bind(accounts["Current"].uuid())
                .bind(kind)
                .bind(amount)
                .bind(counterparty)
                .bind(iban)
                .bind(days)
                .execute(admin)
                .await
                .expect("transfer");
        }
        let panel_secret = secret();
        run("INSERT INTO bank.session_grant (grant_id, customer_id, secret_hash, audience, expires_at)
             VALUES (gen_random_uuid(), $1, $2, 'panel', bank.bank_clock() + interval '30 days')")
            .bind(panel_secret.hash())
            .execute(admin)
            .await
            .expect("panel session");
        let mut customer = Self {
            bank,
            id,
            conversation: ConversationId::from_uuid(Uuid::new_v4()),
            panel_secret,
            accounts,
            payees,
            cards,
            rent: OrderId::from_uuid(rent),
            card_payment: TransferId::from_uuid(card_payment),
            incoming: TransferId::from_uuid(incoming),
        };
        customer.opens_a_conversation().await;
        customer
    }

    /// Begins another conversation; what is said and asked from now on is in it.
    pub async fn opens_a_conversation(&mut self) {
        self.conversation = ConversationId::from_uuid(Uuid::new_v4());
        sqlx::query("INSERT INTO bank.conversation (customer_id, conversation_id) VALUES ($1, $2)")
            .bind(self.id.uuid())
            .bind(self.conversation.uuid())
            .execute(&self.bank.admin)
            .await
            .expect("conversation");
    }

    /// Types a message.
    pub async fn says(&self, text: &str) {
        self.records(text, "[]").await;
    }

    /// Pastes a message as a whole.
    pub async fn pastes(&self, text: &str) {
        let spans = format!(r#"[{{"kind":"paste","start":0,"end":{}}}]"#, text.len());
        self.records(text, &spans).await;
    }

    async fn records(&self, text: &str, spans: &str) {
        sqlx::query(
            "INSERT INTO bank.utterance (customer_id, conversation_id, utterance_id, client_message_id, body, spans)
             VALUES ($1, $2, gen_random_uuid(), gen_random_uuid(), $3, $4::jsonb)",
        )
        .bind(self.id.uuid())
        .bind(self.conversation.uuid())
        .bind(text)
        .bind(spans)
        .execute(&self.bank.admin)
        .await
        .expect("utterance");
    }

    /// Begins a turn in the conversation, and the model that serves it.
    pub async fn model(&self) -> Model {
        let secret = secret();
        sqlx::query(
            "INSERT INTO bank.session_grant (grant_id, secret_hash, customer_id, conversation_id, audience, expires_at)
             VALUES (gen_random_uuid(), $1, $2, $3, 'bank_mcp', bank.bank_clock() + $4 * interval '1 second')",
        )
        .bind(secret.hash())
        .bind(self.id.uuid())
        .bind(self.conversation.uuid())
        .bind(TURN_SECONDS)
        .execute(&self.bank.admin)
        .await
        .expect("turn");
        Model {
            pool: self.bank.bank_mcp.clone(),
            admin: self.bank.admin.clone(),
            secret,
        }
    }

    /// The model of a turn of its own requests something.
    pub async fn model_requests(
        &self,
        request: impl Into<Request>,
    ) -> Result<Requested, RequestError> {
        self.model().await.requests(request).await
    }

    /// A saved payee.
    pub fn payee(&self, name: &str) -> PayeeId {
        self.payees[name]
    }

    /// An own account.
    pub fn account(&self, label: &str) -> AccountId {
        self.accounts[label]
    }

    /// A card by its last four digits.
    pub fn card(&self, last_four: &str) -> CardId {
        self.cards[last_four]
    }

    /// A transfer as a model proposes it, without a value yet.
    pub fn transfer(&self) -> TransferRequest<'_, 'b> {
        TransferRequest {
            customer: self,
            payment: PaymentAsked::default(),
            others: Vec::new(),
            transfer: TransferAsked::default(),
        }
    }

    /// A transfer of an amount to a payee.
    pub fn pay(&self, amount: &str, payee: &str) -> TransferRequest<'_, 'b> {
        self.transfer().to(payee).of(amount)
    }
}

/// A transfer as a model proposes it.
pub struct TransferRequest<'c, 'b> {
    customer: &'c Customer<'b>,
    /// The payment that is being put together.
    payment: PaymentAsked,
    /// Those before it.
    others: Vec<PaymentAsked>,
    transfer: TransferAsked,
}

impl TransferRequest<'_, '_> {
    /// To a saved payee.
    pub fn to(mut self, payee: &str) -> Self {
        self.payment.payee = Some(Target::Payee(self.customer.payee(payee)));
        self
    }

    /// To an own account.
    pub fn own(mut self, label: &str) -> Self {
        self.payment.payee = Some(Target::Own(self.customer.account(label)));
        self
    }

    /// To whatever target.
    pub fn target(mut self, target: Target) -> Self {
        self.payment.payee = Some(target);
        self
    }

    /// How much.
    pub fn of(mut self, amount: &str) -> Self {
        self.payment.amount = Some(amount.to_owned());
        self
    }

    /// One more payment, of an amount to a payee.
    pub fn and(mut self, amount: &str, payee: &str) -> Self {
        self.others.push(std::mem::take(&mut self.payment));
        self.to(payee).of(amount)
    }

    /// The amount of the last payment is left out.
    pub fn amount_left_open(mut self) -> Self {
        self.payment.amount = None;
        self
    }

    /// In which currency.
    pub fn in_currency(mut self, code: &str) -> Self {
        self.transfer.currency = Some(code.parse().expect("a currency"));
        self
    }

    /// From an own account.
    pub fn from(self, label: &str) -> Self {
        let account = self.customer.account(label);
        self.leaving(account)
    }

    /// From whatever account.
    pub fn leaving(mut self, account: AccountId) -> Self {
        self.transfer.from_account = Some(account);
        self
    }
}

impl From<TransferRequest<'_, '_>> for Request {
    fn from(request: TransferRequest<'_, '_>) -> Self {
        let mut transfer = request.transfer;
        transfer.payments = request.others;
        transfer.payments.push(request.payment);
        Self::Transfer(transfer)
    }
}

/// A request about a standing order.
pub struct OrderRequest(pub OrderAsked);

impl From<OrderRequest> for Request {
    fn from(request: OrderRequest) -> Self {
        Self::StandingOrder(request.0)
    }
}

/// A model that serves one turn.
pub struct Model {
    pool: PgPool,
    admin: PgPool,
    secret: Secret,
}

impl Model {
    /// Requests something, and commits it when it was stored.
    pub async fn requests(&self, request: impl Into<Request>) -> Result<Requested, RequestError> {
        let action = ActionId::from_uuid(Uuid::now_v7());
        self.requests_as(action, request).await
    }

    /// The same under an id of the test's choice.
    pub async fn requests_as(
        &self,
        action: ActionId,
        request: impl Into<Request>,
    ) -> Result<Requested, RequestError> {
        let mut transaction = session::begin(&self.pool, &self.secret).await?;
        let requested =
            countersign_pending::request(&mut transaction, &request.into(), action).await?;
        transaction.commit().await?;
        Ok(requested)
    }

    /// The pool and secret, for a test that holds a transaction of its own.
    pub fn login(&self) -> (&PgPool, &Secret) {
        (&self.pool, &self.secret)
    }

    /// The turn is over.
    pub async fn turn_ends(&self) {
        sqlx::query(
            "UPDATE bank.session_grant SET revoked_at = bank.bank_clock() WHERE secret_hash = $1",
        )
        .bind(self.secret.hash())
        .execute(&self.admin)
        .await
        .expect("end the turn");
    }
}
