//! What is told of a message besides the record, where somebody asked for it.

use std::sync::PoisonError;

use countersign_journal::Ticket;

use super::Message;
use crate::clock;
use crate::record::Decided;
use crate::telemetry::{self, Denial, Parent, Span, Telemetry};

impl Message<'_> {
    /// Tells of a line that was handed to the record, or could not be.
    pub(super) fn tell(&self, telemetry: &Telemetry, line: &Decided<'_>, ticket: Option<&Ticket>) {
        let Some(ticket) = ticket else {
            return telemetry.record_failed();
        };
        let server = &self.door.servers[self.server].name;
        let (reason, rule) = line.why();
        telemetry.decided(&telemetry::Decision {
            outcome: line.event(),
            reason,
            server,
            since: self.since,
        });
        if line.event() != "allowed" {
            telemetry.denied(Denial {
                at: clock::unix_seconds(),
                outcome: line.event(),
                reason: reason.to_owned(),
                rule: rule.to_owned(),
                server: server.to_string(),
                tool: line.about().1.map(str::to_owned),
                receipt: ticket.leaf().to_string(),
            });
        }
        if !telemetry.tells_spans() {
            return;
        }
        let parent = self.parent.or_else(|| Parent::of_message(line.frame()?));
        let (method, tool) = line.about();
        let span = Span::begin(parent, self.began, |span| {
            span.method = telemetry::plain_method(method).into();
            span.tool = tool.map(Into::into);
            span.server = server.clone();
            span.decision = line.event();
            (span.reason, span.rule) = (reason.into(), rule.into());
            span.receipt = ticket.leaf().to_string();
        });
        // What is held may go on later.
        if line.is_forwarded() || line.event() == "held" {
            *self.span.lock().unwrap_or_else(PoisonError::into_inner) = span;
        } else {
            telemetry.tell(span, line.event());
        }
    }

    pub(super) fn take_span(&self) -> Option<Span> {
        self.door.telemetry()?;
        self.span
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }
}
