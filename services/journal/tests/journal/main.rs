//! Records on disk: going on, staying shut, coming back, and what somebody did to them.

mod broken;
mod crash;
mod keys;
mod modes;
mod place;
mod resume;
mod sink;
