//! The wall in PostgreSQL itself: what each login can do and, above all, what it cannot, tried as that login.

mod actors;
mod forbidden;
mod form;
mod ledger;
mod lifecycle;
mod snapshot;
