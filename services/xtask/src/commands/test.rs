//! `cargo xtask test`: everything that proves the bank, in one run. It is what CI runs.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use countersign_testkit::checkout;
use countersign_testkit::postgres::{Cluster, Location};
use countersign_testkit::server::{TEST_SERVER_VARIABLE, TestServer, start_throwaway};
use countersign_testkit::stack::programs;

use crate::cargo::cargo;
use crate::counts::{self, Counts};
use crate::tools;

/// How long changed seeds are thrown at each reader; two readers at a time. Longer runs: `nightly fuzz`.
const MUTATION_SECONDS: &str = "60";

/// What `test` runs.
#[derive(Args, Debug)]
pub struct TestArguments {
    /// Only these parts; everything when left out
    #[arg(long, value_enum)]
    only: Vec<Part>,
}

/// A part of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Formatting, query metadata and lints
    Checks,
    /// Every Rust test, against a PostgreSQL of the run's own
    Rust,
    /// The pages' scripts: built again and compared, and their unit tests
    Web,
    /// The pages in a real browser
    Browser,
    /// Clients that none of us wrote, against the door
    Clients,
    /// The official conformance suite, directly and through the door
    Conformance,
    /// A misbehaving server and twelve attack lines, directly and through the door
    Attacks,
    /// Servers and clients that none of us wrote, behind and in front of the door
    Servers,
    /// Changed seeds thrown at every reader
    Mutations,
    /// A schema-driven fuzzer that none of us wrote, against every HTTP surface
    Schemas,
    /// One attack or ordinary conversation of every kind against the real processes; all of them: `cargo xtask eval`
    Eval,
}

/// Runs the parts, prints what each took and one closing line.
///
/// # Errors
/// When any test or check failed.
pub async fn run(arguments: TestArguments) -> anyhow::Result<()> {
    let wanted = |part: Part| arguments.only.is_empty() || arguments.only.contains(&part);
    let mut run = Run::default();
    if wanted(Part::Checks) {
        run.step("formatting", || {
            counts::of_check(cargo().args(["fmt", "--all", "--check"]))
        });
        run.step_async("query metadata", super::prepare::check())
            .await;
        run.step("lints", || {
            let mut clippy = cargo();
            clippy.args(["clippy", "--workspace", "--all-targets", "--quiet", "--"]);
            counts::of_check(clippy.args(["--deny", "warnings"]))
        });
        run.step("who may depend on whom", crate::deny::check);
        run.step("secrets in the history", || {
            let mut look = cargo();
            look.args(["run", "--quiet", "--package", "countersign-operate"]);
            look.args(["--bin", "countersign-operate", "--", "secrets"]);
            counts::of_check(&mut look)
        });
    }
    if [
        Part::Rust,
        Part::Browser,
        Part::Clients,
        Part::Conformance,
        Part::Schemas,
        Part::Eval,
    ]
    .into_iter()
    .any(wanted)
    {
        run.step_async("a PostgreSQL for this run", async {
            tools::postgres()?;
            Ok(Counts::default())
        })
        .await;
        let server = start_throwaway(&std::env::temp_dir()).await;
        match &server {
            Ok((cluster, _)) => run.share_server(cluster)?,
            Err(error) => run.failed("PostgreSQL", error),
        }
        if server.is_ok() {
            with_server(&mut run, &wanted).await;
        }
        if let Ok((mut cluster, folder)) = server {
            cluster.stop();
            std::fs::remove_dir_all(folder)?;
        }
    }
    if wanted(Part::Conformance) || wanted(Part::Attacks) || wanted(Part::Servers) {
        run.step("the door and the servers of tests", || {
            programs::build_fixtures(true)?;
            Ok(Counts::default())
        });
    }
    if wanted(Part::Conformance) {
        run.step("conformance", crate::conformance::test);
    }
    if wanted(Part::Attacks) {
        run.step("attacks of a misbehaving server", crate::misbehaving::test);
        run.step("twelve attack lines", crate::attack_lines::test);
    }
    if wanted(Part::Servers) {
        run.step("servers none of us wrote", crate::real_servers::test);
        run.step("clients on pipes and HTTP", crate::real_clients::test);
    }
    if wanted(Part::Mutations) {
        run.step("changed seeds", || {
            tools::node()?;
            let mut mutations = cargo();
            mutations.args(["run", "--quiet", "--package", "countersign-mutations", "--"]);
            mutations.args(["--node", "node", "--jobs", "2"]);
            counts::of_check(mutations.args(["--seconds", MUTATION_SECONDS]))
        });
    }
    if wanted(Part::Web) {
        run.step("pages: build and unit tests", crate::web::build_and_test);
    }
    run.finish()
}

async fn with_server(run: &mut Run, wanted: &impl Fn(Part) -> bool) {
    let built = run.step("the bank's programs", || {
        programs::build(true)?;
        programs::build_attacker(true)?;
        programs::build_fixtures(true)?;
        Ok(Counts::default())
    });
    if !built {
        return;
    }
    run.environment
        .push((programs::BUILT_VARIABLE, "1".to_owned()));
    let environment = run.environment.clone();
    if wanted(Part::Rust) {
        run.step("Rust tests", || {
            let mut tests = cargo();
            tests
                .args(["test", "--workspace", "--no-fail-fast"])
                .envs(environment.clone());
            counts::of_tests(&mut tests)
        });
    }
    if wanted(Part::Browser) {
        run.step("pages in a real browser", || {
            crate::web::browser_tests(&environment)
        });
    }
    if wanted(Part::Clients) {
        run.step_async("clients none of us wrote", crate::clients::test())
            .await;
    }
    if wanted(Part::Schemas) {
        run.step_async(
            "requests made from the API descriptions",
            crate::schemas::test(),
        )
        .await;
    }
    if wanted(Part::Eval) {
        run.step("attacks and conversations", || {
            let mut eval = super::eval::command();
            eval.args(["--subset", "--baseline", "eval/suites/baseline.txt"]);
            counts::of_tests(eval.envs(environment.clone()))
        });
    }
    if wanted(Part::Conformance) {
        run.step_async("conformance of the bank", crate::conformance::bank::test())
            .await;
    }
}

/// What has been run so far.
#[derive(Default)]
struct Run {
    steps: Vec<Step>,
    /// What every runner of this run is told.
    environment: Vec<(&'static str, String)>,
}

struct Step {
    name: &'static str,
    took: Duration,
    outcome: anyhow::Result<Counts>,
}

impl Run {
    /// Every runner of this run, this process included, makes its databases on one server.
    fn share_server(&mut self, cluster: &Cluster) -> anyhow::Result<()> {
        let url = cluster.admin_url("postgres");
        self.environment.push((TEST_SERVER_VARIABLE, url.clone()));
        TestServer::share(Location::parse(&url)?)
    }

    /// Runs one step and says how it went; returns whether it went well.
    fn step(&mut self, name: &'static str, step: impl FnOnce() -> anyhow::Result<Counts>) -> bool {
        let began = begin(name);
        self.end(name, began, step())
    }

    async fn step_async(
        &mut self,
        name: &'static str,
        step: impl Future<Output = anyhow::Result<Counts>>,
    ) -> bool {
        let began = begin(name);
        let outcome = step.await;
        self.end(name, began, outcome)
    }

    fn failed(&mut self, name: &'static str, error: &anyhow::Error) {
        self.end(name, Instant::now(), Err(anyhow::anyhow!("{error:#}")));
    }

    fn end(&mut self, name: &'static str, began: Instant, outcome: anyhow::Result<Counts>) -> bool {
        if let Err(error) = &outcome {
            println!("error: {error:#}");
        }
        let good = outcome.as_ref().is_ok_and(|counts| counts.failed == 0);
        self.steps.push(Step {
            name,
            took: began.elapsed(),
            outcome,
        });
        good
    }

    fn finish(self) -> anyhow::Result<()> {
        let mut all = Counts::default();
        let mut broken = 0;
        println!("\n== Summary");
        for step in &self.steps {
            let seconds = step.took.as_secs();
            let words = match &step.outcome {
                Ok(counts) if *counts == Counts::default() => "ok".to_owned(),
                Ok(counts) => counts.to_string(),
                Err(_) => "FAILED".to_owned(),
            };
            println!("{:<28} {seconds:>5} s  {words}", step.name);
            match &step.outcome {
                Ok(counts) => all = all + *counts,
                Err(_) => broken += 1,
            }
        }
        // A step that could not run, or a check that said no, is one failure.
        all.failed += broken;
        println!("\n{all}");
        if all.failed > 0 {
            bail!("not everything passed");
        }
        Ok(())
    }
}

fn begin(name: &str) -> Instant {
    println!("\n== {name}");
    Instant::now()
}

/// A command that runs in a folder of the checkout.
pub fn in_folder(program: &str, folder: &str) -> Command {
    let mut command = Command::new(program);
    command.current_dir(checkout::root().join(folder));
    command
}

/// Runs a command that prepares something, showing what it says.
///
/// # Errors
/// When it cannot be started or fails.
pub fn must(command: &mut Command) -> anyhow::Result<()> {
    let shown = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| format!("start {shown}"))?;
    if !status.success() {
        bail!("{shown} failed");
    }
    Ok(())
}
