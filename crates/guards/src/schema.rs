//! The schema: the list of the mutants of all source files, with their numbers, and the rewritten
//! source files that contain all mutants.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use sha2::{Digest, Sha256};

use crate::sites::{self, SourceScan};
use crate::switch;

/// The crates that get mutants. Each entry has the Rust path by which the code of the crate refers
/// to the switch, which selects a mutant at run time.
const CRATES: [(&str, &str); 2] = [("proto", "crate::guard"), ("zoo", "proto::guard")];
/// The files of `proto` whose code no controller executes, such as tests and the code for names,
/// generated pages, machine files, and faults of table rows. They get no mutants.
const NOT_EXECUTED: [&str; 10] = [
    "guard.rs",
    "issue/tests.rs",
    "page.rs",
    "seeded_fault.rs",
    "settings.rs",
    "symbols.rs",
    "table.rs",
    "topology.rs",
    "uses.rs",
    "words.rs",
];
/// The reason that reports give for a seeded fault that is left out because the rewritten crates do
/// not compile with it.
pub(crate) const NO_TYPE: &str = "the seeded fault does not type-check";

/// One mutant: a place in the code with one seeded fault.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// The number by which the switch (functions that the rewritten code calls) selects the mutant
    /// at run time.
    pub number: u32,
    /// The path of the source file relative to `crates/`, with `/` between folders.
    pub file: String,
    /// The number of the line in the source file, counted from 1.
    pub line: usize,
    /// The name of the mutant. It consists of the path of the file (without `src`), the function and
    /// the mutation. The name contains no line number, so edits of other lines do not change it.
    pub name: String,
}

/// One source file, with its sites (the expressions that have mutations).
#[derive(Debug)]
pub(crate) struct Source {
    /// The path of the file relative to `crates/`.
    pub(crate) file: String,
    text: String,
    scan: SourceScan,
}

/// The mutants of all source files, with their numbers.
#[derive(Debug)]
pub struct Schema {
    pub(crate) sources: Vec<Source>,
    /// The mutants in the order of their numbers.
    pub mutants: Vec<Mutant>,
    /// A digest of the code of all source files, without comments, and of the rules that make
    /// mutants from the code. If the digest changes, the results of earlier runs are no longer
    /// valid.
    pub digest: String,
}

/// All files with this extension in a folder and its subfolders, in order of their paths.
pub(crate) fn files(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, String> {
    let mut all = Vec::new();
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for entry in entries {
        let path = entry.map_err(|error| format!("{}: {error}", folder.display()))?.path();
        if path.is_dir() {
            all.extend(files(&path, extension)?);
        } else if path.extension().is_some_and(|of| of == extension) {
            all.push(path);
        }
    }
    all.sort();
    Ok(all)
}

pub(crate) fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// The tokens of a source text, without comments.
fn code(text: &str) -> Result<String, String> {
    let stream: TokenStream = text.parse().map_err(|error: proc_macro2::LexError| error.to_string())?;
    let mut code = String::new();
    tokens(stream, &mut code);
    Ok(code)
}

fn tokens(stream: TokenStream, code: &mut String) {
    // The Rust parser turns a doc comment into an attribute: `#[doc = ...]` or `#![doc = ...]`.
    let mut held = String::new();
    for token in stream {
        match token {
            TokenTree::Punct(mark) if mark.as_char() == '#' || (mark.as_char() == '!' && held == "#") => {
                held.push(mark.as_char());
                continue;
            }
            TokenTree::Group(group) if held.starts_with('#') && is_documentation(&group) => {
                held.clear();
                continue;
            }
            TokenTree::Group(group) => {
                code.push_str(&core::mem::take(&mut held));
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                code.push_str(open);
                tokens(group.stream(), code);
                code.push_str(close);
            }
            other => {
                code.push_str(&core::mem::take(&mut held));
                code.push_str(&other.to_string());
                code.push(' ');
            }
        }
    }
    code.push_str(&held);
}

fn is_documentation(group: &Group) -> bool {
    matches!(group.stream().into_iter().next(), Some(TokenTree::Ident(name)) if name == "doc")
}

impl Schema {
    /// Finds and numbers the mutants of the crates in the workspace at `root`.
    ///
    /// # Errors
    /// If a source cannot be read or parsed.
    pub fn of(root: &Path) -> Result<Schema, String> {
        let mut schema = Schema { sources: Vec::new(), mutants: Vec::new(), digest: String::new() };
        let mut digest = Sha256::new();
        let mut next = 1;
        for (name, path) in CRATES {
            let folder = root.join("crates").join(name).join("src");
            for at in files(&folder, "rs")? {
                let below = at.strip_prefix(&folder).unwrap_or(&at).to_string_lossy().replace('\\', "/");
                let text = read(&at)?;
                digest.update(code(&text).map_err(|why| format!("crates/{name}/src/{below}: {why}"))?);
                if name == "proto" && NOT_EXECUTED.contains(&below.as_str()) {
                    continue;
                }
                let scan = sites::find(&text, path, next).map_err(|error| {
                    let place = error.span().start();
                    format!("crates/{name}/src/{below}:{}:{}: {error}", place.line, place.column + 1)
                })?;
                next += scan.sites.iter().map(|site| site.mutations.len() as u32).sum::<u32>();
                schema.sources.push(Source { file: format!("{name}/src/{below}"), text, scan });
            }
        }
        if next > switch::NUMBER_MAX {
            return Err(format!(
                "{next} mutants, but the switch that selects a mutant has numbers up to {} only",
                switch::NUMBER_MAX
            ));
        }
        for rule in [include_str!("sites.rs"), include_str!("switch.rs"), include_str!("edit.rs")] {
            digest.update(code(rule)?);
        }
        schema.digest = digest.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        schema.name_all();
        Ok(schema)
    }

    fn name_all(&mut self) {
        let mut names: BTreeMap<String, usize> = BTreeMap::new();
        for source in &self.sources {
            let short = source.file.replacen("/src/", "/", 1);
            for site in &source.scan.sites {
                for (number, mutation) in (site.first..).zip(&site.mutations) {
                    let name = format!("{short}, {}: {mutation}", site.function);
                    let count = names.entry(name.clone()).or_default();
                    *count += 1;
                    let name = if *count > 1 { format!("{name} ({count})") } else { name };
                    let (file, line) = (source.file.clone(), site.line);
                    self.mutants.push(Mutant { number, file, line, name });
                }
            }
        }
    }

    /// The number of expressions without mutations, for each reason. One of the reasons is that a
    /// mutation does not type-check. `dropped` has the numbers of the mutants that do not
    /// type-check.
    #[must_use]
    pub fn unseeded(&self, dropped: &BTreeSet<u32>) -> BTreeMap<&'static str, usize> {
        let mut all: BTreeMap<&'static str, usize> = BTreeMap::new();
        for unseeded in self.sources.iter().flat_map(|source| &source.scan.unseeded) {
            *all.entry(unseeded.reason).or_default() += 1;
        }
        if !dropped.is_empty() {
            all.insert(NO_TYPE, dropped.len());
        }
        all
    }

    /// The numbers of the mutants whose code contains `place`, a line and column of the rewritten
    /// source `file`. If a site contains the place, they are the mutants of the innermost such
    /// site. Otherwise, they are the mutants of all sites on the line of the place. A site is an
    /// expression that has mutations.
    pub(crate) fn at(&self, file: &str, place: (usize, usize), dropped: &BTreeSet<u32>) -> Vec<u32> {
        let Some(source) = self.sources.iter().find(|source| source.file == file) else { return Vec::new() };
        let edited = source.edited(dropped);
        let (line, column) = place;
        let start: usize = edited.text.split_inclusive('\n').take(line - 1).map(str::len).sum();
        let rest = edited.text[start..].split('\n').next().unwrap_or_default();
        let offset = start + rest.chars().take(column - 1).map(char::len_utf8).sum::<usize>();
        let ranges = || edited.ranges.iter().filter(|(site, _)| *site < source.scan.sites.len());
        let covering = ranges().filter(|(_, range)| range.contains(&offset));
        let innermost = covering.min_by_key(|(_, range)| range.len()).map(|(site, _)| vec![*site]);
        let on_line = || ranges().filter(|(_, r)| r.start < start + rest.len() + 1 && r.end > start);
        let sites = innermost.unwrap_or_else(|| on_line().map(|(site, _)| *site).collect());
        let numbers = |site: usize| {
            let site = &source.scan.sites[site];
            site.first..site.first + site.mutations.len() as u32
        };
        sites.into_iter().flat_map(numbers).filter(|number| !dropped.contains(number)).collect()
    }

    /// The numbers of the mutants at sites without a chosen mutant. A site is an expression that has
    /// mutations. All mutants of a site are in the rewritten file, or none.
    pub(crate) fn outside(&self, chosen: &[&Mutant]) -> BTreeSet<u32> {
        let chosen: BTreeSet<u32> = chosen.iter().map(|mutant| mutant.number).collect();
        let sites = self.sources.iter().flat_map(|source| &source.scan.sites);
        let numbers = sites.map(|site| site.first..site.first + site.mutations.len() as u32);
        numbers.filter(|numbers| chosen.range(numbers.clone()).next().is_none()).flatten().collect()
    }

    /// The text of each rewritten source file, with its path relative to `crates/`. The mutants in
    /// `dropped` are left out.
    pub(crate) fn rewritten(&self, dropped: &BTreeSet<u32>) -> Vec<(&str, String)> {
        self.sources.iter().map(|source| (source.file.as_str(), source.edited(dropped).text)).collect()
    }
}

impl Source {
    fn edited(&self, dropped: &BTreeSet<u32>) -> crate::edit::Edited {
        let is_dropped =
            |site: usize| self.scan.sites.get(site).is_some_and(|site| dropped.contains(&site.first));
        self.scan.edits.apply(&self.text, is_dropped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_ignores_comments_and_sees_every_other_change() {
        let text = "//! A.\n/// B.\n#[inline]\nfn f(x: u8) -> bool { // why\n    !x == 1 /* c */ }\n";
        let other = "/// Other.\n#[inline]\nfn f(x: u8) -> bool {\n    !x == 1\n}\n";
        assert_eq!(code(text), code(other));
        for changed in [other.replace("== 1", "== 2"), other.replace('!', ""), other.replace("#[inline]", "")]
        {
            assert_ne!(code(&changed), code(other), "{changed}");
        }
    }
}
