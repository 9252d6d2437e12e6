//! The functions of the bank's database as they stand in the migrations, and a mutant's in their place.

use anyhow::{Context, bail, ensure};
use countersign_testkit::installed;

use super::list::Mutant;

/// Every statement text that makes the database, in its order.
#[derive(Debug)]
pub struct Source(Vec<String>);

impl Source {
    /// The migrations and the execution path, as they are installed.
    pub fn installed() -> Self {
        let migrations = installed::MIGRATOR.iter();
        let mut texts: Vec<String> = migrations
            .map(|migration| migration.sql.as_str().to_owned())
            .collect();
        texts.extend([installed::STEP_UP_SQL, installed::EXECUTION_SQL].map(str::to_owned));
        Self(texts)
    }

    /// The statement that puts a mutant in the place of its function.
    ///
    /// # Errors
    /// When there is no such function, or a text of the mutant is not in it exactly once.
    pub fn mutate(&self, mutant: &Mutant) -> anyhow::Result<String> {
        let mut function = self.function(&mutant.function)?;
        for (old, new) in &mutant.changes {
            let found = function.matches(old.as_str()).count();
            ensure!(
                found == 1,
                "{} does not apply: in {} this stands {found} times:\n{old}",
                mutant.name,
                mutant.function
            );
            function = function.replacen(old.as_str(), new, 1);
        }
        Ok(function)
    }

    /// The last definition of a function, which stands.
    fn function(&self, name: &str) -> anyhow::Result<String> {
        for text in self.0.iter().rev() {
            for prefix in ["CREATE OR REPLACE FUNCTION ", "CREATE FUNCTION "] {
                let head = format!("{prefix}{name}(");
                let Some(start) = text.rfind(&head) else {
                    continue;
                };
                let rest = &text[start + prefix.len()..];
                let end = rest
                    .find("$$;")
                    .with_context(|| format!("{name} has no end"))?;
                return Ok(format!("CREATE OR REPLACE FUNCTION {}", &rest[..end + 3]));
            }
        }
        bail!("no function is called {name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql_mutants::list;

    #[test]
    fn every_mutant_of_the_lists_applies_to_the_sql_as_it_is() {
        let source = Source::installed();
        let mutants = list::all().expect("the lists");
        assert!(mutants.len() >= 40, "{}", mutants.len());
        let broken: Vec<String> = mutants
            .iter()
            .filter_map(|mutant| Some(source.mutate(mutant).err()?.to_string()))
            .collect();
        assert!(broken.is_empty(), "{}", broken.join("\n"));
    }

    #[test]
    fn the_later_definition_of_a_function_is_the_one_that_is_changed() {
        let source = Source(vec![
            "CREATE FUNCTION bank.f() RETURNS void AS $$ old $$;".to_owned(),
            "CREATE OR REPLACE FUNCTION bank.f() RETURNS void AS $$ new $$; GRANT".to_owned(),
        ]);
        let text = source.function("bank.f").expect("found");
        assert_eq!(
            text,
            "CREATE OR REPLACE FUNCTION bank.f() RETURNS void AS $$ new $$;"
        );
        assert!(source.function("bank.g").is_err());
    }
}
