//! Deploy files, API descriptions and bills, compared with the sources they are about.

mod cloud;
mod compose;
mod configs;
mod generated;
mod kubernetes;
mod numbers;
mod scale;
mod table;
