//! The parsed experiment files of a paper. The names in the files are not yet looked up.
//!
//! `paper.toml` names scenarios, inputs, variants and definitions. Every other file describes a
//! figure. The files are built into the program. The user may give a folder with other files
//! instead.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;

use crate::error::{Error, printable};
use crate::paper::built_in::{BUILT_IN, claims_text, names};
use crate::results::Shape;
use crate::source::Source;
use crate::systems::read_text;

/// The name of the experiment file with the names and definitions that the other experiment files
/// of a paper use.
const PAPER_FILE: &str = "paper.toml";

/// All experiment files of a paper, parsed, with their texts.
#[derive(Debug)]
pub(super) struct Files {
    pub(super) paper: (Source, PaperFile),
    /// The files of figures, in the order of the figures in the paper. Each entry has the name of
    /// the file, its text and its parsed contents.
    pub(super) figures: Vec<(String, Source, FigureFile)>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PaperFile {
    pub(super) system: Spanned<String>,
    pub(super) seeds: Spanned<u64>,
    #[serde(default)]
    pub(super) settings: BTreeMap<String, Spanned<String>>,
    #[serde(default, rename = "scenario")]
    pub(super) scenarios: Vec<ScenarioFile>,
    #[serde(default, rename = "input")]
    pub(super) inputs: Vec<InputFile>,
    #[serde(default, rename = "variant")]
    pub(super) variants: Vec<VariantFile>,
    #[serde(default, rename = "define")]
    pub(super) definitions: Vec<DefineFile>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScenarioFile {
    pub(super) name: Spanned<String>,
    pub(super) protocol: Spanned<String>,
    /// The policy (a variant of the program) that the scenario chooses for the workloads. `None` if
    /// the workloads have no policies.
    pub(super) policy: Option<Spanned<String>>,
    pub(super) summary: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InputFile {
    pub(super) name: Spanned<String>,
    pub(super) workload: Spanned<String>,
    pub(super) graph: Option<Spanned<String>>,
    /// The name of an input that the workload itself provides.
    pub(super) input: Option<Spanned<String>>,
    /// The size for a workload that generates its input from its settings: `tiny`, `small` or
    /// `paper`.
    pub(super) size: Option<Spanned<String>>,
    /// The settings of the workload. They override the settings that the size (such as `tiny`)
    /// selects.
    #[serde(default)]
    pub(super) settings: BTreeMap<String, Spanned<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VariantFile {
    pub(super) name: Spanned<String>,
    pub(super) system: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) change: BTreeMap<String, Spanned<toml::Value>>,
    #[serde(default)]
    pub(super) settings: BTreeMap<String, Spanned<String>>,
    pub(super) policy: Option<Spanned<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DefineFile {
    pub(super) name: Spanned<String>,
    pub(super) value: Spanned<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FigureFile {
    pub(super) title: String,
    #[serde(default, rename = "where")]
    pub(super) place: String,
    #[serde(default)]
    pub(super) scenarios: Vec<Spanned<String>>,
    pub(super) inputs: Option<Vec<Spanned<String>>>,
    pub(super) variants: Option<Vec<Spanned<String>>>,
    /// The description of the chart. `None` if the figure has no runs.
    pub(super) chart: Option<ChartFile>,
    #[serde(default)]
    pub(super) litmus: Vec<LitmusFile>,
    #[serde(default)]
    pub(super) verified: Vec<VerifiedFile>,
    #[serde(default)]
    pub(super) tested: Vec<TestedFile>,
    #[serde(default, rename = "measure")]
    pub(super) measures: Vec<MeasureFile>,
}

impl FigureFile {
    /// Whether the figure has claims, but none that needs runs.
    pub(super) fn has_no_runs(&self) -> bool {
        let FigureFile { litmus, verified, tested, measures, .. } = self;
        measures.is_empty() && !(litmus.is_empty() && verified.is_empty() && tested.is_empty())
    }
}

/// The meaning of the groups of bars along the horizontal axis of a chart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Groups {
    /// One group for each input, and one group for the mean over all inputs.
    #[default]
    Inputs,
    /// One group for each variant of the machine. The bars of a group show means over the inputs.
    Variants,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ChartFile {
    pub(super) shape: Shape,
    #[serde(default)]
    pub(super) groups: Groups,
    pub(super) unit: String,
    /// The scenarios that the chart shows. `None` means all scenarios of the figure.
    pub(super) scenarios: Option<Vec<Spanned<String>>>,
    /// The variants that have groups of bars. `None` means all variants of the figure.
    pub(super) variants: Option<Vec<Spanned<String>>>,
    /// Groups of bars that show means over some of the inputs. The chart has them before the group
    /// of means over all inputs.
    #[serde(default, rename = "mean")]
    pub(super) means: Vec<MeanFile>,
    #[serde(rename = "part")]
    pub(super) parts: Vec<PartFile>,
    /// The name of the table in the claims file from which the chart takes the published numbers.
    /// `None` if the chart shows no such table.
    pub(super) published: Option<Spanned<String>>,
}

impl ChartFile {
    /// The chart description for a figure that has no runs: no groups and no parts.
    pub(super) const NONE: ChartFile = ChartFile {
        shape: Shape::Table,
        groups: Groups::Inputs,
        unit: String::new(),
        scenarios: None,
        variants: None,
        means: Vec::new(),
        parts: Vec::new(),
        published: None,
    };
}

/// A group of bars that shows means over some of the inputs of a figure.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MeanFile {
    /// A short phrase that names the inputs of the mean, such as `the twelve`.
    pub(super) over: String,
    pub(super) inputs: Vec<Spanned<String>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PartFile {
    pub(super) label: String,
    pub(super) value: Spanned<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MeasureFile {
    pub(super) claim: Spanned<String>,
    pub(super) value: Option<Spanned<String>>,
    pub(super) holds: Option<Spanned<String>>,
    /// Two expressions, for a claim that their values rise together: if the first expression is
    /// larger for one input than for another input, the second expression is larger too. `None` for
    /// other claims.
    pub(super) rises: Option<[Spanned<String>; 2]>,
    /// The expressions, for a claim that several expressions have similar means. `None` for other
    /// claims.
    pub(super) spread: Option<Vec<Spanned<String>>>,
    /// The expression, for a claim that its value is larger for each of `inputs` than for each other
    /// input of the figure. `None` for other claims.
    pub(super) largest: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) fold: Fold,
    pub(super) inputs: Option<Vec<Spanned<String>>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LitmusFile {
    pub(super) claim: Spanned<String>,
    pub(super) test: Spanned<String>,
    pub(super) models: Vec<Spanned<String>>,
    #[serde(default)]
    pub(super) inclusion: bool,
    pub(super) races: bool,
    pub(super) verdict: Option<bool>,
}

/// A claim that recorded verifications of protocols decide.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VerifiedFile {
    pub(super) claim: Spanned<String>,
    pub(super) model: Spanned<String>,
    pub(super) protocols: Vec<Spanned<String>>,
}

/// A claim that a test of the project checks. A reproduction does not run the test.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TestedFile {
    pub(super) claim: Spanned<String>,
    /// The file of the test, relative to the folder of the project.
    pub(super) test: String,
}

/// The way in which the values of several inputs are combined to the value of a claim.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Fold {
    /// The arithmetic mean. The geometric mean is printed beside it.
    #[default]
    Mean,
    /// The geometric mean of the values.
    Geomean,
    /// The smallest of the values.
    Min,
    /// The largest of the values.
    Max,
    /// The sum of the values.
    Sum,
    /// No combination: the claim must hold for each input.
    Each,
}

impl Files {
    /// Reads and parses the experiment files of the paper from `folder`. If `folder` is `None`,
    /// parses the built-in files.
    pub(super) fn load(paper: &str, folder: Option<&Path>) -> Result<Files, Error> {
        let built_in = BUILT_IN.iter().find(|(name, _)| *name == paper).map(|(_, files)| files);
        let has_claims = !claims_text(paper).is_empty();
        let mut sources: Vec<(String, Source)> = match (folder, built_in) {
            (Some(folder), _) if has_claims => own_files(folder)?,
            (None, None) if has_claims => {
                let with = names().join(", ");
                return Err(Error::Impossible(format!(
                    "paper `{paper}` has claims, but no experiments of its own yet: give a folder of \
                     experiment files by --experiments, or choose one of the papers {with}"
                )));
            }
            (_, None) | (Some(_), _) => return Err(Error::unknown("paper", paper, &names())),
            (None, Some(built_in)) => built_in
                .iter()
                .map(|(file, text)| {
                    let path = PathBuf::from(format!("<built-in>/experiments/{paper}/{file}"));
                    ((*file).to_owned(), Source { path, text: (*text).to_owned() })
                })
                .collect(),
        };
        let Some(at) = sources.iter().position(|(file, _)| file == PAPER_FILE) else {
            let path = folder.unwrap_or(Path::new("")).join(PAPER_FILE);
            return Err(Error::Unreadable { path, reason: "there is no such file".to_owned() });
        };
        let (_, source) = sources.remove(at);
        let paper = source.parse()?;
        sources.sort_by_key(|(file, _)| numeric_key(file));
        let figure = |(file, source): (String, Source)| {
            let figure = source.parse()?;
            Ok((file.trim_end_matches(".toml").to_owned(), source, figure))
        };
        let figures = sources.into_iter().map(figure).collect::<Result<_, Error>>()?;
        Ok(Files { paper: (source, paper), figures })
    }
}

fn own_files(folder: &Path) -> Result<Vec<(String, Source)>, Error> {
    let unreadable = |error: std::io::Error| Error::Unreadable {
        path: printable(&folder.to_string_lossy()).into(),
        reason: error.to_string(),
    };
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let Some(file) = path.file_name().and_then(|name| name.to_str()) else { continue };
        if file.ends_with(".toml") {
            files.push((file.to_owned(), Source { text: read_text(&path)?, path: path.clone() }));
        }
    }
    Ok(files)
}

/// A sort key that compares the number at the end of a file name as a number, so that `fig9` comes
/// before `fig10`.
fn numeric_key(file: &str) -> (String, u64, String) {
    let stem = file.trim_end_matches(".toml");
    let digits = stem.len() - stem.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let (name, number) = stem.split_at(stem.len() - digits);
    (name.to_owned(), number.parse().unwrap_or(0), file.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_experiment_file_of_the_repository_is_built_in_with_its_text() {
        for (paper, built_in) in BUILT_IN {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments").join(paper);
            let mut files = own_files(&folder).unwrap();
            files.sort_by(|a, b| a.0.cmp(&b.0));
            let mut known: Vec<_> = built_in.iter().map(|(file, text)| (*file, *text)).collect();
            known.sort_unstable();
            let found: Vec<_> =
                files.iter().map(|(file, source)| (file.as_str(), source.text.as_str())).collect();
            assert_eq!(found, known);
        }
    }

    #[test]
    fn figures_are_sorted_by_number() {
        let mut files = ["table6.toml", "fig10.toml", "padding.toml", "fig9.toml"];
        files.sort_by_key(|file| numeric_key(file));
        assert_eq!(files, ["fig9.toml", "fig10.toml", "padding.toml", "table6.toml"]);
    }
}
