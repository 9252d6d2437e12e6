//! What is done on the panel, and what stands on pages at the end.

use std::time::Duration;

use countersign_testkit::{Service, people::Customer};
use serde_json::Value;

use super::Play;

/// How often a receipt is asked for, ten times a second.
const RECEIPT_TRIES: usize = 60;

impl Play<'_> {
    pub(super) async fn acts(
        &mut self,
        turn: usize,
        person: &str,
        act: &crate::case::Act,
    ) -> anyhow::Result<()> {
        if act.act == "confirm_parallel_with_turn" {
            return Ok(());
        }
        if act.act == "operator_renames_payee" {
            let customers: Vec<_> = self.recording.ids.customers().map(|(_, id)| id).collect();
            return match self
                .panel
                .rename(&mut self.watch, &customers, &act.text())
                .await
            {
                Ok(()) => self.look(turn, "a payee renamed").await,
                Err(error) => {
                    self.recording.unplayed.push(error.to_string());
                    Ok(())
                }
            };
        }
        if act.act == "confirm_as" {
            // `value` names who presses; with `as` alone, that one presses on what stands on the speaker's page.
            let (whose, who) = match act.text() {
                text if text.is_empty() => (self.speaker(turn), person.to_owned()),
                text => (person.to_owned(), text),
            };
            return self.confirms_as(turn, &whose, &who).await;
        }
        let customer = self.person(person).await?;
        if matches!(act.act.as_str(), "download_statement" | "download_csv") {
            let statement = self.page_of(&customer, "/activity.csv").await?;
            self.recording.statements.push(statement);
            return Ok(());
        }
        if act.act == "open_page" {
            let page = self.page_of(&customer, act.text().as_str()).await?;
            self.recording.pages.insert(act.text(), page);
            return Ok(());
        }
        let value = self.names(person).fill(&act.text());
        match self.panel.act(turn, person, &customer, act, &value).await? {
            Ok(mut presses) => {
                let is_any = !presses.is_empty();
                for press in presses.iter_mut().filter(|press| press.is_confirmed()) {
                    if let Some(path) = press.answer["receipt"].as_str() {
                        let receipt = receipt(&customer, path).await?;
                        press.receipt = receipt;
                    }
                }
                self.recording.presses.extend(presses);
                if is_any {
                    self.look(turn, &format!("{} after turn {turn}", act.act))
                        .await?;
                }
            }
            Err(unplayed) => self.recording.unplayed.push(unplayed),
        }
        Ok(())
    }
    /// Who has something on their page: whoever typed last before this entry, if not the presser's own.
    fn speaker(&self, turn: usize) -> String {
        let presser = self
            .case
            .turns
            .get(turn.saturating_sub(1))
            .map(|entry| entry.person.clone());
        let entries = self.case.turns.iter().take(turn).rev();
        entries
            .map(|entry| entry.person.clone())
            .find(|person| Some(person) != presser.as_ref())
            .or(presser)
            .unwrap_or_default()
    }

    /// Another customer's session presses on the card that stands on this one's page.
    async fn confirms_as(&mut self, turn: usize, person: &str, other: &str) -> anyhow::Result<()> {
        let whose = self.person(person).await?;
        let cards = whose.cards().await?;
        let card = cards.into_iter().find(|card| card["state"] == "pending");
        let Some(card) = card.filter(|_| self.recording.ids.customer(other).is_some()) else {
            self.recording
                .unplayed
                .push(format!("confirm_as {other:?}: no such person, or no card"));
            return Ok(());
        };
        let presser = self.person(other).await?;
        let began = std::time::Instant::now();
        let answer = presser.confirms(&card).await?;
        self.recording.presses.push(crate::recording::Press {
            turn,
            person: other.to_owned(),
            act: "confirm_as".to_owned(),
            status: answer.status,
            answer: answer.body,
            card,
            took: began.elapsed(),
            receipt: None,
        });
        self.look(turn, &format!("confirm_as after turn {turn}"))
            .await
    }

    /// A page as the panel answers it to this customer.
    async fn page_of(&self, customer: &Customer, path: &str) -> anyhow::Result<String> {
        let origin = &self.stage.panel_origin;
        let answer = self
            .stage
            .bank
            .http()?
            .get(format!("{origin}{path}"))
            .header("cookie", customer.cookie())
            .header("sec-fetch-site", "same-origin")
            .send()
            .await?;
        Ok(answer.text().await?)
    }

    /// Reads what the case's lines are about: pages of the panel and of the operator, statements, logs.
    pub(super) async fn keep_pages(&mut self) -> anyhow::Result<()> {
        let lines = self.case.forbidden.join("\n") + "\n" + &self.case.required.join("\n");
        let names = |words: &[&str]| words.iter().any(|word| lines.contains(word));
        let pages = names(&[
            "page contains",
            "page shows",
            "request to host",
            "chat area",
        ]);
        let statement = names(&["statement"]);
        for person in self.case.speakers() {
            let customer = self.person(&person).await?;
            if pages {
                for path in ["/", "/activity", "/receipts", "/accounts"] {
                    let page = self.page_of(&customer, path).await?;
                    self.recording
                        .pages
                        .insert(format!("{person} {path}"), page);
                }
            }
            if statement {
                let text = self.page_of(&customer, "/activity.csv").await?;
                self.recording.statements.push(text);
            }
        }
        if names(&["staff page", "dashboard"]) {
            let bank = &self.stage.bank;
            let mut operator = bank.operator()?;
            let token = bank.operator_token("eval").await?;
            anyhow::ensure!(
                operator.signs_in(token.expose()).await?,
                "the operator's token is not taken"
            );
            let mut paths = vec!["/".to_owned(), "/alarms".to_owned()];
            paths.extend(
                self.actions
                    .values()
                    .flatten()
                    .map(|id| format!("/actions/{id}")),
            );
            for path in paths {
                let page = operator.opens(&path).await?;
                self.recording
                    .pages
                    .insert(format!("staff {path}"), page.html);
            }
        }
        if names(&["log contains", "process"]) {
            for service in Service::ALL {
                let stack = self.stage.bank.stack();
                let (log, starts) = (stack.log(service), stack.starts(service));
                let name = service.name();
                self.recording.pages.insert(format!("log {name}"), log);
                self.recording
                    .pages
                    .insert(format!("starts {name}"), starts.to_string());
            }
        }
        Ok(())
    }
}

/// A receipt's payload, once the bank's log has signed it.
async fn receipt(customer: &Customer, path: &str) -> anyhow::Result<Option<Value>> {
    for _ in 0..RECEIPT_TRIES {
        let answer = customer.get(&format!("{path}.json")).await?;
        if let Some(payload) = answer.body["payload"]
            .as_str()
            .filter(|_| answer.status == 200)
        {
            return Ok(serde_json::from_str(payload).ok());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(None)
}
