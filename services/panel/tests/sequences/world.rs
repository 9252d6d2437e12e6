//! A real database with pairs of customers in it, and every act as the rooms of the bank do it.

use anyhow::Context;
use countersign_domain::{ActionId, PayeeId, Secret};
use countersign_execution::{
    ActError, LogMemory, cancel, cards, confirm,
    confirm::ConfirmInput,
    drop_line,
    loops::{poster, releaser, sweeper},
    notices, passkeys, undo,
};
use countersign_pending::{PaymentAsked, Request, RequestError, Requested, Target, TransferAsked};
use countersign_soft_passkey::{self as soft_passkey, SoftPasskey};
use countersign_step_up::RelyingParty;
use countersign_store::session;
use countersign_testkit::Database;
use serde_json::{Value, json};
use sqlx::{
    PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use uuid::Uuid;

use crate::model::{Act, Answer, Line, Seen, Who};

const ORIGIN: &str = "http://localhost:8480";

/// One database, the logins that use it, and customers nobody has been yet.
pub struct Bank {
    pub bank_mcp: PgPool,
    pub panel: PgPool,
    poster: PgPool,
    sweeper: PgPool,
    releaser: PgPool,
    admin: PgPool,
    page: RelyingParty,
    passkey: SoftPasskey,
    pairs_at_once: u64,
    made: i32,
    used: i32,
    secrets: Vec<Secret>,
    _database: Database,
}

/// The two customers of one sequence.
pub struct Pair {
    number: i32,
    secrets: [Secret; 2],
}

/// A card as it was shown, with what a press of it sends.
#[derive(Clone)]
pub struct Shown {
    pub seen: Seen,
    pub input: ConfirmInput,
}

/// What an act needs that has to be there before it.
pub enum Ready {
    /// The secret of the turn that asks.
    Turn(Secret),
    /// The card whose button is pressed, a passkey's answer with it where the card wants one.
    Card(Box<ConfirmInput>),
    /// A session that was opened for it.
    Session(Secret),
    Nothing,
}

async fn pool(options: PgConnectOptions, most: u32) -> anyhow::Result<PgPool> {
    PgPoolOptions::new()
        .max_connections(most)
        .connect_with(options)
        .await
        .context("open a pool")
}

fn id(kind: u32, number: i32) -> Uuid {
    let number = u128::try_from(number).unwrap_or_default();
    Uuid::from_u128((u128::from(kind) << 96) | (0x4000 << 64) | (0x8000 << 48) | number)
}

impl Bank {
    /// A database of its own, with a clock that stands.
    pub async fn open(pairs_at_once: u64) -> anyhow::Result<Self> {
        let database = Database::fresh().await?;
        let admin = pool(database.server().location().as_admin(database.name()), 2).await?;
        sqlx::raw_sql(include_str!("world.sql"))
            .execute(&admin)
            .await
            .context("world.sql")?;
        let login = async |role: &str, most| pool(database.url(role).parse()?, most).await;
        let mut bank = Self {
            bank_mcp: login("bank_mcp", 3).await?,
            panel: login("panel", 5).await?,
            poster: login("poster", 2).await?,
            sweeper: login("sweeper", 2).await?,
            releaser: login("releaser", 2).await?,
            admin,
            page: RelyingParty::new(ORIGIN)?,
            passkey: SoftPasskey::new(1),
            pairs_at_once,
            made: 0,
            used: 0,
            secrets: Vec::new(),
            _database: database,
        };
        // One customer sets a passkey up in earnest; the others are given the same one.
        bank.make_people(1).await?;
        let first = bank.secrets[0].clone();
        bank.enrols(&first).await?;
        bank.used = bank.made;
        Ok(bank)
    }

    async fn enrols(&self, secret: &Secret) -> anyhow::Result<()> {
        let begun = passkeys::begin_enrolment(&self.panel, secret, &self.page).await?;
        let challenge = soft_passkey::challenge(&begun.creation);
        let answer = serde_json::from_value(self.passkey.create(ORIGIN, &challenge))?;
        let new = passkeys::Answered {
            challenge: challenge
                .try_into()
                .map_err(|_| anyhow::anyhow!("a challenge"))?,
            answer,
        };
        passkeys::enrol(&self.panel, secret, &self.page, "Phone", &new, None).await?;
        Ok(())
    }

    async fn make_people(&mut self, pairs: i32) -> anyhow::Result<()> {
        self.secrets = (0..2 * pairs)
            .map(|place| Secret::new(format!("{:064x}", self.made + place + 1)))
            .collect();
        let hashes: Vec<Vec<u8>> = self
            .secrets
            .iter()
            .map(|secret| secret.hash().to_vec())
            .collect();
        sqlx::query("SELECT bank.test_people($1, $2, $3)")
            .bind(self.made)
            .bind(pairs)
            .bind(hashes)
            .execute(&self.admin)
            .await
            .context("people")?;
        self.used = self.made;
        self.made += 2 * pairs;
        Ok(())
    }

    /// Two customers nobody has been, at ten in the morning of a new day.
    pub async fn pair(&mut self) -> anyhow::Result<Pair> {
        sqlx::query("UPDATE bank.test_clock SET at = date_trunc('day', at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' + interval '33 hours'")
            .execute(&self.admin)
            .await?;
        if self.used == self.made {
            self.make_people(i32::try_from(self.pairs_at_once)?).await?;
        }
        let number = self.used;
        self.used += 2;
        let place = self.secrets.len() - usize::try_from(self.made - number)?;
        Ok(Pair {
            number,
            secrets: [self.secrets[place].clone(), self.secrets[place + 1].clone()],
        })
    }

    /// Lets time pass.
    pub async fn wait(&self, seconds: i64) -> anyhow::Result<()> {
        sqlx::query("UPDATE bank.test_clock SET at = at + $1 * interval '1 second'")
            .bind(seconds)
            .execute(&self.admin)
            .await?;
        Ok(())
    }

    /// Where the two stand, and what does not hold.
    pub async fn look(&self, pair: &Pair) -> anyhow::Result<Value> {
        let text: String = sqlx::query_scalar("SELECT bank.test_look($1, $2)")
            .bind(pair.id(0))
            .bind(pair.id(1))
            .fetch_one(&self.admin)
            .await?;
        Ok(serde_json::from_str(&text)?)
    }

    /// Records a message and opens the turn that answers it.
    pub async fn hears(
        &self,
        pair: &Pair,
        who: Who,
        talk: usize,
        text: &str,
    ) -> anyhow::Result<Secret> {
        let secret = random_secret();
        sqlx::query(
            "WITH said AS (INSERT INTO bank.utterance (customer_id, conversation_id, utterance_id, client_message_id, body)
               SELECT $1, $2, gen_random_uuid(), gen_random_uuid(), $3 WHERE $3 <> '')
             INSERT INTO bank.session_grant (grant_id, secret_hash, customer_id, conversation_id, audience, expires_at)
             VALUES (gen_random_uuid(), $4, $1, $2, 'bank_mcp', bank.bank_clock() + interval '2 minutes')",
        )
        .bind(pair.id(who))
        .bind(id(7 + u32::try_from(talk)?, pair.number_of(who)))
        .bind(text)
        .bind(&secret.hash()[..])
        .execute(&self.admin)
        .await?;
        Ok(secret)
    }

    /// Draws a card. Nothing where it has no button, or is not this customer's.
    pub async fn shows(
        &self,
        pair: &Pair,
        who: Who,
        action: ActionId,
        changes: u64,
    ) -> anyhow::Result<Option<Shown>> {
        let card = match cards::one_card(
            &self.panel,
            &pair.secrets[who],
            action,
            &mut random_secret,
        )
        .await
        {
            Ok(card) => card,
            Err(ActError::NotFound) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let (Some(hash), Some(nonce)) = (&card.confirm_hash, card.nonce) else {
            return Ok(None);
        };
        let mut confirm_hash = [0; 32];
        hex::decode_to_slice(hash, &mut confirm_hash)?;
        let mut input = ConfirmInput {
            version: card.version,
            confirm_hash,
            nonce: Secret::new(nonce),
            note: String::new(),
            assertion: None,
        };
        if card.step_up.is_some() {
            let prepared = confirm::prepare(
                &self.panel,
                &pair.secrets[who],
                &self.page,
                action,
                &input,
                &mut random_secret,
                &LogMemory::default(),
            )
            .await?;
            if let Some(prompt) = prepared.step_up {
                input.assertion = Some(serde_json::from_value(
                    self.passkey
                        .get(ORIGIN, &soft_passkey::challenge(&prompt.options)),
                )?);
            }
        }
        Ok(Some(Shown {
            seen: Seen {
                action,
                version: card.version,
                changes,
            },
            input,
        }))
    }

    /// A session that began now.
    pub async fn signs_in(&self, pair: &Pair, who: Who) -> anyhow::Result<Secret> {
        let secret = random_secret();
        sqlx::query(
            "INSERT INTO bank.session_grant (grant_id, customer_id, secret_hash, audience, expires_at)
             VALUES (gen_random_uuid(), $1, $2, 'panel', bank.bank_clock() + interval '1 hour')",
        )
        .bind(pair.id(who))
        .bind(&secret.hash()[..])
        .execute(&self.admin)
        .await?;
        Ok(secret)
    }

    /// Does an act and says what was answered.
    pub async fn does(&self, pair: &Pair, act: &Act, ready: &Ready) -> anyhow::Result<Answer> {
        let nonce = &mut random_secret;
        match act {
            Act::Request { who, lines, id, .. } => {
                let Ready::Turn(turn) = ready else {
                    anyhow::bail!("a turn")
                };
                self.requests(pair, *who, turn, lines, *id).await
            }
            Act::Confirm { who, seen } => {
                let Ready::Card(input) = ready else {
                    anyhow::bail!("a card")
                };
                let done = confirm::confirm(
                    &self.panel,
                    &pair.secrets[*who],
                    &self.page,
                    seen.action,
                    input,
                    nonce,
                    &LogMemory::default(),
                )
                .await;
                told(done.map(|confirmed| {
                    if confirmed.outcome == "held" {
                        Answer::Held
                    } else {
                        Answer::Confirmed
                    }
                }))
            }
            Act::Cancel { who, action } => told(
                cancel::cancel(&self.panel, &pair.secrets[*who], *action, nonce)
                    .await
                    .map(|_| Answer::Done),
            ),
            Act::Undo { who, action } => told(
                undo::undo(
                    &self.panel,
                    &pair.secrets[*who],
                    *action,
                    nonce,
                    &LogMemory::default(),
                )
                .await
                .map(|_| Answer::Done),
            ),
            Act::Drop {
                who,
                action,
                version,
                line,
            } => {
                let input = drop_line::DropInput {
                    version: *version,
                    line: *line,
                };
                told(
                    drop_line::drop_line(&self.panel, &pair.secrets[*who], *action, input, nonce)
                        .await
                        .map(|_| Answer::Done),
                )
            }
            Act::Freeze { who } => told(
                notices::freeze(&self.panel, &pair.secrets[*who])
                    .await
                    .map(|()| Answer::Done),
            ),
            Act::Unfreeze { .. } => {
                let Ready::Session(session) = ready else {
                    anyhow::bail!("a session")
                };
                told(
                    notices::unfreeze(&self.panel, session)
                        .await
                        .map(|lifted| match lifted {
                            notices::Unfrozen::SignInAgain => {
                                Answer::No("sign_in_again".to_owned())
                            }
                            notices::Unfrozen::Now | notices::Unfrozen::Before => Answer::Done,
                        }),
                )
            }
            Act::Allow { action } => {
                sqlx::query("SELECT bank.allow_hold(customer_id, action_id, 'grace') FROM bank.pending_action WHERE action_id = $1")
                    .bind(action.uuid())
                    .execute(&self.admin)
                    .await?;
                Ok(Answer::Done)
            }
            Act::Sweep => {
                sweeper::turn(&self.sweeper).await?;
                Ok(Answer::Done)
            }
            Act::Post => {
                poster::turn(&self.poster).await?;
                Ok(Answer::Done)
            }
            Act::Release => {
                releaser::turn(
                    &self.releaser,
                    &self.panel,
                    &mut random_secret,
                    &LogMemory::default(),
                )
                .await?;
                Ok(Answer::Done)
            }
        }
    }

    async fn requests(
        &self,
        pair: &Pair,
        who: Who,
        turn: &Secret,
        lines: &[Line],
        action: ActionId,
    ) -> anyhow::Result<Answer> {
        let payments = lines
            .iter()
            .map(|(_, payee, cents)| PaymentAsked {
                payee: Some(Target::Payee(PayeeId::from_uuid(id(
                    payee_kind(payee),
                    pair.number_of(who),
                )))),
                amount: Some(format!("{}.{:02}", cents / 100, cents % 100)),
            })
            .collect();
        let request = Request::Transfer(TransferAsked {
            payments,
            currency: None,
            from_account: None,
        });
        let mut transaction = session::begin(&self.bank_mcp, turn).await?;
        match countersign_pending::request(&mut transaction, &request, action).await {
            Ok(Requested::Waiting(waiting)) => {
                transaction.commit().await?;
                Ok(Answer::Waits {
                    superseded: waiting.superseded,
                })
            }
            Ok(Requested::AlreadyWaiting(waiting)) => {
                transaction.commit().await?;
                Ok(Answer::AlreadyWaits(waiting.action))
            }
            Err(RequestError::Refused(refusal)) => Ok(Answer::No(refusal.code.to_string())),
            Err(RequestError::Busy) => Ok(Answer::Busy),
            Err(error) => Err(error.into()),
        }
    }
}

fn payee_kind(name: &str) -> u32 {
    match name {
        "Bob" => 3,
        "Carol" => 4,
        _ => 5,
    }
}

fn told(done: Result<Answer, ActError>) -> anyhow::Result<Answer> {
    Ok(match done {
        Ok(answer) => answer,
        Err(ActError::NotFound) => Answer::NotFound,
        Err(ActError::NotOpen(_)) => Answer::NotOpen,
        Err(ActError::StaleCard(_)) => Answer::Stale,
        Err(ActError::Expired) => Answer::Expired,
        Err(ActError::TooLate(_)) => Answer::TooLate,
        Err(ActError::Busy) => Answer::Busy,
        Err(ActError::Invalid(_)) => Answer::No("invalid".to_owned()),
        Err(ActError::Refused(code)) => Answer::No(code),
        Err(error) => return Err(error.into()),
    })
}

/// 32 random bytes: names of showings and sessions are the only things here that no seed makes, and nothing depends on them.
pub fn random_secret() -> Secret {
    Secret::new(format!(
        "{}{}",
        Uuid::new_v4().simple(),
        Uuid::new_v4().simple()
    ))
}

impl Pair {
    fn number_of(&self, who: Who) -> i32 {
        self.number + i32::try_from(who).unwrap_or_default()
    }

    /// A customer's id.
    pub fn id(&self, who: Who) -> Uuid {
        id(1, self.number_of(who))
    }
}

/// What the model says there is, in the form in which the database says it.
pub fn picture(world: &crate::model::World, pair: &Pair) -> Value {
    let each = |value: &dyn Fn(Who) -> Value| -> Value {
        json!({ (pair.id(0).to_string()): value(0), (pair.id(1).to_string()): value(1) })
    };
    let actions: serde_json::Map<String, Value> = world
        .actions
        .iter()
        .map(|action| {
            let transfer = if action.undone {
                "voided"
            } else if action.left {
                "posted"
            } else {
                "reserved"
            };
            let confirmed = action.state == countersign_domain::ActionState::Confirmed;
            let transfers = vec![transfer; if confirmed { action.lines.len() } else { 0 }];
            let shown = json!({"state": action.state.text(), "version": action.version, "undone": action.undone, "transfers": transfers});
            (action.id.uuid().to_string(), shown)
        })
        .collect();
    json!({
        "balances": each(&|who| json!(world.customers[who].balance)),
        "spent": each(&|who| json!(if world.customers[who].spent.0 == world.day() { world.customers[who].spent.1 } else { 0 })),
        "frozen": each(&|who| json!(world.customers[who].frozen)),
        "actions": actions,
    })
}
