//! The program as an operator runs it: keys by hand, and the bank copied, checked and put back.

mod copies;
mod keys;
mod limits;
mod place;
