//! Reads of the session's customer, one file per noun. Each query leaves the customer to row-level security and says so again in
//! its WHERE, so that the index is used.
