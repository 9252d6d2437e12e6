//! `POST /redeem`: the panel's one-use code becomes a bearer for this page.

use axum::extract::State;
use countersign_domain::{ConversationId, Secret};
use countersign_serve::{Json, Problem};
use serde::{Deserialize, Serialize};

use super::history::{Kept, read_history};
use crate::{
    ambient,
    app::App,
    store::{conversation, customer},
};

/// Longest code; a longer text is none.
const CODE_BYTES_MAX: usize = 128;

/// The one-use code the panel handed to the page.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Code {
    code: Secret,
}

/// A session of the chat page.
#[derive(Serialize)]
pub struct Opened {
    bearer: Secret,
    conversation: ConversationId,
    customer_name: String,
    /// The language in which the bank speaks with the customer: the panel's, where one was chosen there.
    language: String,
    history: Vec<Kept>,
}

/// Opens a session and goes on with the latest conversation, or begins one.
pub async fn redeem(
    State(app): State<App>,
    Json(Code { code }): Json<Code>,
) -> Result<axum::Json<Opened>, Problem> {
    if code.expose().len() > CODE_BYTES_MAX || code.expose().contains('\0') {
        return Err(Problem::unauthorized());
    }
    let bearer = Secret::from_random(ambient::random());
    let redeemed = customer::redeem_code(app.database.pool(), &code, &bearer)
        .await?
        .ok_or(Problem::unauthorized())?;
    let mut transaction = app.database.begin(&bearer).await?;
    let language = customer::of_session(&mut transaction)
        .await?
        .ok_or(Problem::unauthorized())?
        .language;
    let (conversation, history) =
        match conversation::newest(&mut transaction, redeemed.customer).await? {
            Some(known) => (
                known,
                read_history(&mut transaction, redeemed.customer, known).await?,
            ),
            None => {
                let fresh = ConversationId::from_uuid(ambient::new_id());
                conversation::begin(&mut transaction, redeemed.customer, fresh).await?;
                (fresh, Vec::new())
            }
        };
    transaction
        .commit()
        .await
        .map_err(crate::store::StoreError::from)?;
    Ok(axum::Json(Opened {
        bearer,
        conversation,
        customer_name: redeemed.name,
        language,
        history,
    }))
}
