//! `drover retailers licences FILE|-`: imports a state's public register of licences, part by part, each part in one transaction.

use std::collections::HashMap;
use std::path::PathBuf;

use anyhow::Context;

use crate::cli::input::{self, Input};
use crate::cli::list_file::{self, BadLine, Columns, Header, at};
use crate::cli::progress::CommandProgress;
use crate::cli::{CliError, Env, ExitCode};
use contract::retailers::{ImportedLicences, LicenceImport, MAX_LICENCES, RegisteredLicence};
use domain::amounts::counted;

const COLUMNS: Columns = Columns { known: &["licence", "name", "address", "city", "zip"], required: 3 };

#[derive(Debug, clap::Args)]
pub struct Args {
    /// CSV file with a header, or - for standard input. Columns: licence, name, address, city, zip
    file: PathBuf,
    /// State of the register, such as AZ
    #[arg(long)]
    state: String,
    /// Import the correct lines, and write the wrong ones with their faults to this file
    #[arg(long, value_name = "FILE")]
    skip_bad: Option<PathBuf>,
}

pub async fn run(args: Args, env: &Env) -> anyhow::Result<ExitCode> {
    let Input { name, text } = Input::read(&args.file).await?;
    let register = read(&name, &text, &args.state).map_err(|fault| input::refusal(&[fault]))?;
    input::skip_bad(&name, Some(register.header), &register.bad, args.skip_bad.as_deref())?;
    if register.licences.is_empty() && register.bad.is_empty() {
        return Err(CliError::usage(format!("{name} has no licences")).into());
    }
    let api = env.api().await?.naming(&[("state", "--state")]);
    let progress = CommandProgress::begin(env, "licences");
    let total = register.licences.len();
    progress.set_total(total as u64);
    let (mut done, mut all) = (0, ImportedLicences::default());
    for part in register.licences.chunks(MAX_LICENCES) {
        if progress.is_stopped() {
            break;
        }
        let so_far =
            || format!("imported: {done} of {}; run the same command again for the rest", counted(total, "licence"));
        let request = LicenceImport { state: args.state.clone(), licences: part.to_vec() };
        let imported: ImportedLicences = api.post("/api/licences/import", &request).await.with_context(so_far)?;
        all.added += imported.added;
        all.changed += imported.changed;
        done += part.len();
        progress.advance(part.len() as u64);
    }
    drop(progress);
    env.out.either(&all, |ImportedLicences { added, changed }| {
        let mut lines = vec![format!(
            "licences added: {added}, changed: {changed}, known already: {}",
            done as i64 - added - changed
        )];
        lines.extend(input::outcome(total - done, register.bad.len(), args.skip_bad.as_deref()));
        lines.join("\n")
    })?;
    Ok(input::code(total - done, register.bad.len()))
}

struct Register<'a> {
    licences: Vec<RegisteredLicence>,
    bad: Vec<BadLine<'a>>,
    header: &'a str,
}

/// Reads the register, or returns the faults of all of it; `file` is only for the messages.
fn read<'a>(file: &str, text: &'a str, state: &str) -> Result<Register<'a>, String> {
    let mut lines = list_file::lines(text);
    let (number, first) = lines.find(|(_, line)| !list_file::is_comment(line)).unwrap_or((1, ""));
    let header = Header::parse(first, &COLUMNS).map_err(|fault| at(file, number, fault))?;
    let (mut licences, mut first_lines) = (Vec::new(), HashMap::new());
    let rows = lines.filter(|(_, line)| !header.is_comment(line));
    let bad = list_file::read_lines(file, rows, |number, line| {
        let licence: RegisteredLicence = header.row(line).map_err(|fault| vec![fault])?;
        let entry = licence.check(state).map_err(|fault| vec![fault])?;
        let first = *first_lines.entry(entry.licence.clone()).or_insert(number);
        if first != number {
            return Err(vec![format!("licence '{}' is already in line {first}", entry.licence)]);
        }
        licences.push(licence);
        Ok(())
    })?;
    Ok(Register { licences, bad, header: first })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_register_is_read_and_each_wrong_line_is_named() {
        let text = "licence,name,address,zip\nA1,Copper Fern,\"12 Example Rd, Mesa\",85201\nA1,Tin Lantern,7 Elm St,\nA2,,7 Elm St,\n";
        let register = read("az.csv", text, "AZ").unwrap();
        assert_eq!((register.licences.len(), register.licences[0].address.as_str()), (1, "12 Example Rd, Mesa"));
        let faults = list_file::faults("az.csv", &register.bad);
        assert_eq!(faults, ["az.csv line 3: licence 'A1' is already in line 2", "az.csv line 4: name is missing"]);
    }

    #[test]
    fn a_list_of_another_kind_is_refused() {
        let fault = read("stores.csv", "name,slug\nA,a\n", "AZ").err();
        assert_eq!(
            fault.as_deref(),
            Some("stores.csv line 1: unknown column 'slug': the columns are licence, name, address, city, zip")
        );
    }
}
