//! `cargo xtask db`: a database to look at, to compile queries against, to run single tests on.

use countersign_testkit::installed::LOGIN_ROLES;
use countersign_testkit::postgres::Location;
use countersign_testkit::server::{Contents, TEST_SERVER_VARIABLE, TestServer, start_throwaway};

/// Starts it, prints its addresses and waits for Ctrl-C.
///
/// # Errors
/// When PostgreSQL is not found or the schema does not install.
pub async fn run() -> anyhow::Result<()> {
    let (mut cluster, folder) = start_throwaway(&std::env::temp_dir()).await?;
    let outcome = show(&cluster.admin_url("postgres"), &cluster.admin_url("bank")).await;
    if outcome.is_ok() {
        crate::signals::asked_to_stop().await?;
    }
    cluster.stop();
    std::fs::remove_dir_all(folder)?;
    outcome
}

async fn show(server_url: &str, bank_url: &str) -> anyhow::Result<()> {
    let location = Location::parse(server_url)?;
    let server = TestServer::at(location.clone());
    server.create("bank", Contents::Demo).await?;
    println!(
        "# A throw-away PostgreSQL with the demo bank. Ctrl-C stops it, and its data is gone."
    );
    println!("export DATABASE_URL='{bank_url}'");
    println!("export {TEST_SERVER_VARIABLE}='{server_url}'");
    for role in LOGIN_ROLES {
        println!(
            "# {role}: {}",
            location.url(role, &server.password(role), "bank")
        );
    }
    println!("# Check queries while writing them: SQLX_OFFLINE=false cargo check -p <crate>");
    Ok(())
}
