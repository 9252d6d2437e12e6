//! Builds again when a migration comes or changes, since the migrator embeds the folder.

fn main() {
    println!("cargo:rerun-if-changed=../../migrations");
    println!("cargo:rerun-if-changed=../store/sql");
}
