//! One turn: the agent acts for the customer from here to its end, and not a moment longer.

use std::{panic::AssertUnwindSafe, time::Duration};

use bytes::Bytes;
use countersign_domain::{ConversationId, CustomerId, Secret};
use countersign_identity::{SessionClaims, SignError, TokenId, TurnId, sign_session};
use countersign_screening::{Act, Stage, canary::Watch, claims};
use futures_util::FutureExt as _;
use tokio::sync::{
    OwnedSemaphorePermit,
    mpsc::{Sender, error::SendError},
};
use uuid::Uuid;

use crate::{
    agent::{AgentError, Line, ModelUse, Said, TurnRequest},
    ambient,
    app::App,
    budget::Remaining,
    relay::{self, Mark, Out, Piece, Record, Shown, Stopped, known_code},
    store::{
        StoreError, action_status, canary,
        chat_event::{self, OfReply},
        looked_at::{self, Looked},
        reply, turn_grant,
    },
};

/// Longest turn. The token and the grant live a little longer, so that ending them is our act and not theirs.
pub const TURN_TIME_OUT: Duration = Duration::from_secs(110);
/// Life of the session token.
const TOKEN_SECONDS: u64 = 118;
/// How far back every request of a conversation lies.
pub const ANY_TIME: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
/// The bank's clock and this machine's may differ by so much.
const CLOCKS_DIFFER: Duration = Duration::from_secs(2);
/// Waits between attempts to end a turn; after the last the grant ends by its own clock.
const END_RETRIES: [Duration; 4] = [
    Duration::from_millis(50),
    Duration::from_millis(250),
    Duration::from_secs(1),
    Duration::from_secs(5),
];

/// What a turn acts with. Its message is on record and its grant is open.
pub struct Turn {
    /// Who typed.
    pub customer: CustomerId,
    /// Where.
    pub conversation: ConversationId,
    /// The reply's row.
    pub reply: Uuid,
    /// The turn's grant: its calls are on record under it.
    pub grant: Uuid,
    /// The chat session.
    pub bearer: Secret,
    /// The turn's own secret.
    pub grant_secret: Secret,
    /// Language and region.
    pub locale: String,
    /// What the customer wrote.
    pub message: String,
    /// What was said before it, as much as the agent may remember.
    pub history: Vec<Said>,
    /// The last replies as they were shown, oldest first.
    pub earlier_replies: Vec<String>,
    /// What is left of the model's budget; none when it is used up.
    pub remaining: Option<Remaining>,
    /// The turn's place among those of this process.
    pub room: OwnedSemaphorePermit,
}

/// How a turn came to its end.
enum End {
    Done,
    Stopped,
    Failed(&'static str),
    /// It held what may not be shown.
    Withheld(&'static str),
}

/// What stands between a reply's words and the page.
struct Gate {
    shown: Shown,
    watch: Watch,
    used: Option<ModelUse>,
}

/// Runs a turn to its end, whatever the agent, the browser or the clock do, and then takes its rights back.
pub async fn run(app: App, turn: Turn, out: Sender<Bytes>) {
    let began = tokio::time::Instant::now();
    let mut gate = Gate {
        shown: Shown::new(&app.screens),
        watch: Watch::default(),
        used: None,
    };
    let mut end = {
        let relay = AssertUnwindSafe(relay(&app, &turn, &out, &mut gate)).catch_unwind();
        tokio::select! {
            end = relay => end.unwrap_or(End::Failed("agent_failed")),
            () = out.closed() => End::Stopped,
            () = tokio::time::sleep(TURN_TIME_OUT) => End::Failed("timeout"),
            () = countersign_serve::stopping() => End::Failed("interrupted"),
        }
    };
    end_grant(&app, &turn).await;
    // Nobody is there to be shown the rest after a stop, and nothing more is shown after a withheld part.
    if !matches!(end, End::Withheld(_) | End::Stopped) {
        let rest = gate.shown.rest();
        if let Err(withheld) = show(&app, &turn, &out, &mut gate, rest).await {
            // What came is shown, and what made the reply end is told.
            end = withheld;
        }
    }
    // What the agent kept to itself is told as well.
    let _ = show_looked_at(&app, &turn, &out, &mut gate.shown).await;
    gate.shown.compare_remarks();
    let shown = &mut gate.shown;
    // "Your card is frozen" describes how things stand, except right after a request to freeze it, and where a reply of
    // this conversation has said that it did something to it.
    let said_before = || {
        let earlier = turn.earlier_replies.iter();
        earlier.flat_map(|reply| claims(reply)).any(|claim| {
            claim.stage == Stage::Done
                && (claim.acts.contains(&Act::Freeze) || claim.acts.contains(&Act::Unfreeze))
        })
    };
    let least = if shown.prepared_anything() || said_before() {
        Stage::Stands
    } else {
        Stage::Done
    };
    let said = Spoken {
        reply: shown.body(),
        least,
        within: Some(began.elapsed()),
    };
    let correction = correction(&app, &turn.bearer, turn.conversation, said).await;
    if let Some(record) = correction {
        shown.notice("claim_corrected", "record");
        let _ = out.send(Out::Corrected { record: &record }.line()).await;
    }
    let (ending, last) = match end {
        End::Done => (reply::Ending::Complete, Out::Done),
        End::Stopped => (
            reply::Ending::Stopped,
            Out::Failed {
                code: "interrupted",
            },
        ),
        End::Failed(code) | End::Withheld(code) => (reply::Ending::Failed, Out::Failed { code }),
    };
    let noticed = gate.shown.noticed().into_iter();
    let noticed = noticed.map(|((kind, _), number)| (kind, number));
    app.metrics.replied(ending.text(), began.elapsed(), noticed);
    if let Err(error) = keep_reply(&app, &turn, ending, &gate).await {
        tracing::error!(
            error = &error as &dyn std::error::Error,
            "Could not keep a reply"
        );
    }
    // Last, so that the next message finds the conversation free.
    let _ = out.send(last.line()).await;
    drop(turn.room);
}

async fn relay(app: &App, turn: &Turn, out: &Sender<Bytes>, gate: &mut Gate) -> End {
    let Some(remaining) = turn.remaining else {
        return End::Failed("budget");
    };
    let turn_id = TurnId::from_random(ambient::random());
    let token = match mint_token(app, turn, turn_id) {
        Ok(token) => token,
        Err(error) => {
            tracing::error!(%error, "Could not mint a turn's token");
            return End::Failed("agent_failed");
        }
    };
    let request = TurnRequest {
        turn_id: turn_id.to_string(),
        session_token: token.expose(),
        locale: &turn.locale,
        history: &turn.history,
        message: &turn.message,
        remaining,
    };
    let mut answer = match app.agent.begin(&request).await {
        Ok(answer) => answer,
        Err(error) => {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "The agent took no turn"
            );
            return End::Failed("agent_unavailable");
        }
    };
    // Looking through what was said before takes its time, and the agent has begun meanwhile. No word was shown yet.
    gate.watch = Watch::behind(turn.earlier_replies.iter().map(String::as_str));
    loop {
        let line = match answer.next().await {
            Ok(Some(line)) => line,
            // An answer that ends without saying so broke off.
            Ok(None) => return End::Failed("interrupted"),
            Err(error @ AgentError::BadLine) => {
                tracing::warn!(%error, "Ended a turn");
                gate.shown.notice("agent_misreport", "bad_line");
                return End::Failed("agent_failed");
            }
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "A reply broke off"
                );
                return End::Failed("interrupted");
            }
        };
        let sent = match line {
            Line::Text { text } => {
                let ready = gate.shown.text(&text);
                if let Err(end) = show(app, turn, out, gate, ready).await {
                    return end;
                }
                Ok(())
            }
            Line::LookedAt { tool } => {
                if gate.shown.says_it_looked_at(&tool) {
                    show_looked_at(app, turn, out, &mut gate.shown).await
                } else {
                    Ok(())
                }
            }
            Line::Prepared { action } => {
                if !gate.shown.prepared(action) {
                    Ok(())
                } else if is_on_record(app, turn, action).await {
                    out.send(Out::Prepared { action }.line()).await
                } else {
                    gate.shown.notice("agent_misreport", "not_prepared");
                    Ok(())
                }
            }
            Line::Flagged { tool, rules } => match gate.shown.flagged(&tool, &rules) {
                Some(tool) => out.send(Out::Flagged { tool }.line()).await,
                None => Ok(()),
            },
            Line::Guardrail {
                guardrail, rule, ..
            } => {
                gate.shown.guardrail(&guardrail, &rule);
                Ok(())
            }
            Line::Used(used) => {
                gate.used = Some(used);
                Ok(())
            }
            Line::Done {} => return End::Done,
            Line::Failed { code } => {
                let known = known_code(&code);
                if known != code {
                    gate.shown.notice("agent_misreport", "unknown_code");
                }
                return End::Failed(known);
            }
        };
        if sent.is_err() {
            return End::Stopped;
        }
    }
}

/// Shows what is ready, unless it tells another customer's canary or asks for a secret.
async fn show(
    app: &App,
    turn: &Turn,
    out: &Sender<Bytes>,
    gate: &mut Gate,
    ready: Result<Vec<Piece>, Stopped>,
) -> Result<(), End> {
    let pieces = match ready {
        Ok(pieces) => pieces,
        Err(Stopped::TooLong) => return Err(End::Failed("reply_too_long")),
        Err(Stopped::AsksForSecret) => {
            tracing::error!("A reply asked the customer for a secret and was withheld");
            gate.shown.notice("secret_asked", "asks_for_credentials");
            return Err(End::Withheld("secret_asked"));
        }
    };
    let words: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
    let runs = gate.watch.take(&words);
    if !runs.is_empty() && is_anothers(app, turn, runs).await {
        tracing::error!("A reply held another customer's canary and was withheld");
        gate.shown.notice("canary_alarm", "reply");
        return Err(End::Withheld("withheld"));
    }
    gate.shown.keep(&pieces);
    for Piece { text, mark } in &pieces {
        let line = match mark {
            Mark::Plain => Out::Text { text },
            Mark::Foreign => Out::Foreign { text },
            Mark::Warned => Out::Warned { text },
        };
        out.send(line.line()).await.map_err(|_| End::Stopped)?;
    }
    Ok(())
}

/// Whether a run is of another customer's code. When the record cannot be asked, the answer is yes.
async fn is_anothers(
    app: &App,
    turn: &Turn,
    runs: std::collections::BTreeSet<countersign_screening::canary::Run>,
) -> bool {
    let ask = async {
        let key = app.canary_key().await?;
        let mut transaction = app.database.begin(&turn.bearer).await?;
        canary::belongs_to_another(&mut transaction, key, runs).await
    };
    match ask.await {
        Ok(anothers) => anothers,
        Err(error) => {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "Could not ask whose canary a reply holds"
            );
            true
        }
    }
}

/// Shows what the record says was looked at since it was asked last. When it cannot be asked, nothing.
async fn show_looked_at(
    app: &App,
    turn: &Turn,
    out: &Sender<Bytes>,
    shown: &mut Shown,
) -> Result<(), SendError<Bytes>> {
    let on_record = read_looked_at(app, &turn.bearer, turn.customer, turn.grant).await;
    for line in shown.looked_at(on_record) {
        out.send(line.line()).await?;
    }
    Ok(())
}

/// What the record says a turn looked at so far. When it cannot be asked, nothing.
pub async fn read_looked_at(
    app: &App,
    bearer: &Secret,
    customer: CustomerId,
    grant: Uuid,
) -> Vec<Looked> {
    let ask = async {
        let mut transaction = app.database.begin(bearer).await?;
        looked_at::of_turn(&mut transaction, customer, grant).await
    };
    ask.await.unwrap_or_else(|error| {
        tracing::warn!(
            error = &error as &dyn std::error::Error,
            "Could not read what was looked at"
        );
        Vec::new()
    })
}

/// The agent's identity for this turn, for the door to verify.
fn mint_token(app: &App, turn: &Turn, turn_id: TurnId) -> Result<Secret, SignError> {
    let now = ambient::unix_seconds();
    let claims = SessionClaims {
        customer: turn.customer,
        conversation: turn.conversation,
        turn: turn_id,
        grant_secret: turn.grant_secret.clone(),
        issued_at: now,
        expires_at: now + TOKEN_SECONDS,
        token_id: TokenId::from_random(ambient::random()),
    };
    let key = app.session_key.key(now).ok_or(SignError::Key)?;
    sign_session(&key, &claims).map(Secret::new)
}

/// Whether the record knows the request the agent speaks of. When it cannot be asked, the answer is no.
async fn is_on_record(app: &App, turn: &Turn, action: countersign_domain::ActionId) -> bool {
    let ask = async {
        let mut transaction = app.database.begin(&turn.bearer).await?;
        action_status::is_known(&mut transaction, turn.conversation, action).await
    };
    match ask.await {
        Ok(known) => known,
        Err(error) => {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "Could not look a request up"
            );
            false
        }
    }
}

/// What was said, to be compared with the record.
#[derive(Clone, Copy, Debug)]
pub struct Spoken<'a> {
    /// The words that were shown.
    pub reply: &'a str,
    /// From which stage on a description counts as a deed.
    pub least: Stage,
    /// How long ago a request may have been made by the turn that said it; any time, where that is not known.
    pub within: Option<Duration>,
}

/// The record, where the reply says more than it holds. When the record cannot be asked, none: the page then says
/// nothing of its own.
pub async fn correction(
    app: &App,
    bearer: &Secret,
    conversation: ConversationId,
    spoken: Spoken<'_>,
) -> Option<Record> {
    let claims = claims(spoken.reply);
    if claims.is_empty() {
        return None;
    }
    let ask = async {
        let mut transaction = app.database.begin(bearer).await?;
        let within = spoken.within.map_or(ANY_TIME, |took| took + CLOCKS_DIFFER);
        action_status::latest(&mut transaction, conversation, within.as_secs_f64()).await
    };
    match ask.await {
        Ok(statuses) => relay::correction(&claims, spoken.least, &statuses),
        Err(error) => {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "Could not compare a reply with the record"
            );
            None
        }
    }
}

/// Takes the turn's rights back. Tried again when the database is busy: until then the agent could go on.
async fn end_grant(app: &App, turn: &Turn) {
    let mut waits = END_RETRIES.into_iter();
    loop {
        let attempt: Result<bool, StoreError> = async {
            let mut transaction = app.database.begin(&turn.bearer).await?;
            let ended = turn_grant::end(&mut transaction, &turn.grant_secret).await?;
            transaction.commit().await?;
            Ok(ended)
        }
        .await;
        match attempt {
            Ok(true) => return,
            Ok(false) => {
                tracing::info!("A turn had ended before it was ended: its session is over");
                return;
            }
            Err(error) => match waits.next() {
                Some(wait) => {
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        "Could not end a turn yet"
                    );
                    tokio::time::sleep(wait).await;
                }
                None => {
                    tracing::error!(
                        error = &error as &dyn std::error::Error,
                        "Could not end a turn; it ends by its clock"
                    );
                    return;
                }
            },
        }
    }
}

async fn keep_reply(
    app: &App,
    turn: &Turn,
    ending: reply::Ending,
    gate: &Gate,
) -> Result<(), StoreError> {
    let shown = &gate.shown;
    let mut transaction = app.database.begin(&turn.bearer).await?;
    let kept = reply::end(
        &mut transaction,
        turn.customer,
        turn.conversation,
        turn.reply,
        ending,
        shown.body(),
        shown.tools(),
    )
    .await?;
    let of = OfReply {
        owner: turn.customer,
        conversation: turn.conversation,
        reply: turn.reply,
    };
    chat_event::record(&mut transaction, of, &shown.noticed()).await?;
    if let Some(used) = gate.used {
        chat_event::record_use(&mut transaction, of, used).await?;
    }
    transaction.commit().await?;
    if !kept {
        tracing::info!(
            "A reply was closed before it ended: its session is over or it took too long"
        );
    }
    Ok(())
}
