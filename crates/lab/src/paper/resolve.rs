//! Converts experiment files to a [`Paper`]: looks up every name in the files, and reports a fault
//! with its place.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use toml::Spanned;
use workloads::graph::programs::program_of;
use workloads::{Size, Workload};

use super::claims::{Claim, Claims, Kind};
use super::expr::{At, Comparison, Definitions, Expr, ExprError};
use super::files::{
    ChartFile, FigureFile, Files, Fold, InputFile, LitmusFile, MeasureFile, PaperFile, VariantFile,
    VerifiedFile,
};
use super::litmus::{Litmus, TESTS};
use super::verified::VerifiedClaim;
use super::{BASE, FigurePlan, Input, Measure, Metric, NamedScenario, Paper, Source as From, Variant};
use crate::error::Error;
use crate::paper::built_in::claims_text;
use crate::scenario::Scenario;
use crate::source::Source;
use crate::systems::{Change, ChangeError, Systems};

impl Paper {
    /// Loads the experiments of a paper from the files in `folder`, or from the built-in files if
    /// `folder` is `None`.
    ///
    /// # Errors
    /// If the paper is unknown, or if a file has a fault. The error describes the first fault.
    pub fn load(name: &str, folder: Option<&Path>, systems: &Systems) -> Result<Paper, Error> {
        let files = Files::load(name, folder)?;
        let claims_path = format!("<built-in>/claims/{name}.toml");
        let claims = Claims::parse(Path::new(&claims_path), claims_text(name))?;
        let (source, file) = &files.paper;
        let definitions = definitions(source, file)?;
        let mut paper = Paper {
            name: name.to_owned(),
            claims,
            seeds: *file.seeds.get_ref(),
            settings: file.settings.iter().map(|(k, v)| (k.clone(), v.get_ref().clone())).collect(),
            scenarios: file.scenarios.iter().map(|s| scenario(source, s)).collect::<Result<_, _>>()?,
            inputs: inputs(source, file)?,
            variants: variants(source, file, systems)?,
            figures: Vec::new(),
        };
        paper.check_paper_file(source, file)?;
        for (id, source, figure) in &files.figures {
            let plan = Resolver { paper: &paper, source, definitions: &definitions }.figure(id, figure)?;
            paper.figures.push(plan);
        }
        Ok(paper)
    }

    fn check_paper_file(&self, source: &Source, file: &PaperFile) -> Result<(), Error> {
        if !(1..=1000).contains(file.seeds.get_ref()) {
            return Err(source.error(file.seeds.span(), "expected 1 to 1000 seeds"));
        }
        let twice = |names: Vec<&Spanned<String>>| {
            let mut seen = BTreeSet::new();
            names.into_iter().find(|name| !seen.insert(name.get_ref().clone())).cloned()
        };
        let named = [
            twice(file.scenarios.iter().map(|s| &s.name).collect()),
            twice(file.inputs.iter().map(|i| &i.name).collect()),
            twice(file.variants.iter().map(|v| &v.name).collect()),
        ];
        if let Some(name) = named.into_iter().flatten().next() {
            return Err(source.error(name.span(), format!("the name `{}` is given twice", name.get_ref())));
        }
        // Only the names of settings are checked here. Their values are checked later, for each
        // workload.
        for (name, value) in &file.settings {
            let known = |input: &Input| input.workload.settings.iter().any(|s| s.name == name);
            if !self.inputs.iter().any(known) {
                return Err(source.error(value.span(), format!("no workload has the setting `{name}`")));
            }
        }
        for (scenario, written) in self.scenarios.iter().zip(&file.scenarios) {
            for input in &self.inputs {
                for variant in &self.variants {
                    let span = written.policy.as_ref().unwrap_or(&written.protocol).span();
                    self.settings(scenario, input, variant, &[])
                        .map_err(|error| source.error(span, error.to_string()))?;
                }
            }
        }
        Ok(())
    }
}

fn definitions(source: &Source, file: &PaperFile) -> Result<Definitions, Error> {
    let mut all = Definitions::new();
    for define in &file.definitions {
        let value = Expr::parse(define.value.get_ref(), &all)
            .map_err(|wrong| misfit(source, &define.value, &wrong))?;
        all.insert(define.name.get_ref().clone(), value);
    }
    Ok(all)
}

/// Creates the error for a fault in an expression, with its place in the file. The expression is a
/// string in the file. The offset in `wrong` counts from the first byte after the opening quote of
/// this string.
fn misfit(source: &Source, text: &Spanned<String>, wrong: &ExprError) -> Error {
    let at = text.span().start + 1 + wrong.offset;
    source.error(at..at, wrong.message.clone())
}

fn scenario(source: &Source, file: &super::files::ScenarioFile) -> Result<NamedScenario, Error> {
    let policy = file.policy.as_ref().map(|policy| policy.get_ref().as_str());
    let scenario = Scenario::new(file.protocol.get_ref(), policy)
        .map_err(|error| source.error(file.protocol.span(), error.to_string()))?;
    Ok(NamedScenario { name: file.name.get_ref().clone(), scenario, summary: file.summary.clone() })
}

fn inputs(source: &Source, file: &PaperFile) -> Result<Vec<Input>, Error> {
    let input = |input: &InputFile| {
        let known: Vec<&'static Workload> = workloads::all().to_vec();
        let Some(workload) = known.iter().find(|known| known.name == input.workload.get_ref()) else {
            let names: Vec<_> = known.iter().map(|known| known.name).collect();
            return Err(source.unknown("workload", &input.workload, &names));
        };
        let from = match (&input.graph, &input.input, &input.size) {
            (None, None, Some(size)) => generated(source, workload, size, &input.settings)?,
            _ if !input.settings.is_empty() => {
                return Err(source.error(input.workload.span(), "`settings` of an input need the key `size`"));
            }
            (Some(graph), None, None) if program_of(workload).is_some() => {
                workloads::graph::stand_in::find(graph.get_ref())
                    .map_err(|message| source.error(graph.span(), message))?;
                From::Graph(graph.get_ref().clone())
            }
            (None, Some(name), None) if !workload.inputs().is_empty() => {
                let names: Vec<_> = workload.inputs().iter().map(|input| input.name).collect();
                let found = workload.inputs().iter().find(|input| input.name == name.get_ref());
                From::Named(found.ok_or_else(|| source.unknown("input", name, &names))?)
            }
            _ => {
                let keys = match program_of(workload) {
                    Some(_) => "one of the keys `graph` and `size`",
                    None if workload.inputs().is_empty() => "the key `size` alone",
                    None => "one of the keys `input` and `size`",
                };
                let message = format!("expected {keys} for an input of `{}`", workload.name);
                return Err(source.error(input.workload.span(), message));
            }
        };
        Ok(Input { name: input.name.get_ref().clone(), workload, source: from })
    };
    file.inputs.iter().map(input).collect()
}

/// The input that a workload generates from its settings. `size` (such as `tiny`) selects settings
/// of the workload, and the settings in `given` override them.
fn generated(
    source: &Source,
    workload: &'static Workload,
    size: &Spanned<String>,
    given: &BTreeMap<String, Spanned<String>>,
) -> Result<From, Error> {
    let impossible = |span, error: workloads::BadSetting| source.error(span, error.to_string());
    let Some(known) = Size::find(size.get_ref()) else {
        return Err(source.unknown("size", size, &crate::catalog::size_names()));
    };
    let mut settings = workload.sized(known).map_err(|error| impossible(size.span(), error))?;
    let mut text = format!("size {}", size.get_ref());
    for (name, value) in given {
        settings.set(name, value.get_ref()).map_err(|error| impossible(value.span(), error))?;
        text += &format!(", {name}={}", value.get_ref());
    }
    Ok(From::Generated(settings, text))
}

fn variants(source: &Source, file: &PaperFile, systems: &Systems) -> Result<Vec<Variant>, Error> {
    let system = systems
        .load(file.system.get_ref())
        .map_err(|error| source.error(file.system.span(), error.to_string()))?;
    let base = Variant {
        name: BASE.to_owned(),
        system,
        changes: Vec::new(),
        settings: Default::default(),
        policy: None,
    };
    let mut all = vec![base];
    for written in &file.variants {
        all.push(variant(source, file, written, systems)?);
    }
    Ok(all)
}

fn variant(
    source: &Source,
    file: &PaperFile,
    written: &VariantFile,
    systems: &Systems,
) -> Result<Variant, Error> {
    if written.name.get_ref() == BASE {
        return Err(source
            .error(written.name.span(), format!("`{BASE}` is reserved for the machine without changes")));
    }
    let name = written.system.as_ref().unwrap_or(&file.system);
    let spans: Vec<_> = written.change.values().map(Spanned::span).collect();
    let changed: Vec<Change> = written
        .change
        .iter()
        .map(|(key, value)| Change { key: key.clone(), value: value.get_ref().clone() })
        .collect();
    let system = systems.load_changed(name.get_ref(), &changed).map_err(|error| match error {
        ChangeError::Machine(error) => source.error(name.span(), error.to_string()),
        ChangeError::Change { at, message } => {
            let span = at.and_then(|at| spans.get(at).cloned()).unwrap_or_else(|| written.name.span());
            source.error(span, message)
        }
    })?;
    let mut changes: Vec<String> =
        changed.iter().map(|change| format!("{} = {}", change.key, change.value)).collect();
    let settings = written.settings.iter().map(|(k, v)| (k.clone(), v.get_ref().clone()));
    changes.extend(settings.clone().map(|(name, value)| format!("{name} = {value}")));
    let policy = written.policy.as_ref().map(|policy| policy.get_ref().clone());
    changes.extend(policy.clone());
    Ok(Variant {
        name: written.name.get_ref().clone(),
        system,
        changes,
        settings: settings.collect(),
        policy,
    })
}

/// Resolves the file of a figure: holds the names that the file may use, and looks them up.
struct Resolver<'a> {
    paper: &'a Paper,
    source: &'a Source,
    definitions: &'a Definitions,
}

impl Resolver<'_> {
    fn figure(&self, id: &str, file: &FigureFile) -> Result<FigurePlan, Error> {
        let scenario_names: Vec<&str> = self.paper.scenarios.iter().map(|s| s.name.as_str()).collect();
        let input_names: Vec<&str> = self.paper.inputs.iter().map(|i| i.name.as_str()).collect();
        let variant_names: Vec<&str> = self.paper.variants.iter().map(|v| v.name.as_str()).collect();
        let scenarios = self.names("scenario", Some(&file.scenarios), &scenario_names, &[])?;
        let inputs = self.names("input", file.inputs.as_ref(), &input_names, &input_names)?;
        let variants = self.names("variant", file.variants.as_ref(), &variant_names, &[BASE])?;
        let all: Vec<&str> = scenarios.iter().map(String::as_str).collect();
        let all_variants: Vec<&str> = variants.iter().map(String::as_str).collect();
        let no_scenarios = || self.source.error(0..0, "a chart needs `scenarios`");
        let chart = match &file.chart {
            Some(_) if file.scenarios.is_empty() => return Err(no_scenarios()),
            Some(chart) => chart,
            None if !file.has_no_runs() => {
                let message = "a figure needs `[chart]`, or `[[litmus]]`, `[[verified]]` or `[[tested]]` without `[[measure]]`";
                return Err(self.source.error(0..0, message));
            }
            None => &ChartFile::NONE,
        };
        let mut plan = FigurePlan {
            id: id.to_owned(),
            title: file.title.clone(),
            place: file.place.clone(),
            shown: self.names("scenario of this figure", chart.scenarios.as_ref(), &all, &all)?,
            shown_variants: self.names(
                "variant of this figure",
                chart.variants.as_ref(),
                &all_variants,
                &all_variants,
            )?,
            scenarios,
            inputs,
            variants,
            shape: chart.shape,
            groups: chart.groups,
            unit: chart.unit.clone(),
            parts: Vec::new(),
            published: None,
            means: Vec::new(),
            measures: Vec::new(),
            litmus: file.litmus.iter().map(|litmus| self.litmus(litmus)).collect::<Result<_, _>>()?,
            verified: file.verified.iter().map(|file| self.verified(file)).collect::<Result<_, _>>()?,
            tested: file
                .tested
                .iter()
                .map(|file| Ok((self.claim(&file.claim)?.id.clone(), file.test.clone())))
                .collect::<Result<_, Error>>()?,
        };
        for mean in &chart.means {
            let all: Vec<&str> = plan.inputs.iter().map(String::as_str).collect();
            let inputs = self.names("input of this figure", Some(&mean.inputs), &all, &all)?;
            plan.means.push((mean.over.clone(), inputs));
        }
        for part in &chart.parts {
            let value = self.expr(&plan, &part.value)?;
            plan.parts.push((part.label.clone(), value));
        }
        if let Some(table) = &chart.published {
            let tables = &self.paper.claims.tables;
            match tables.get(table.get_ref()).map(|table| table.columns.len() == plan.parts.len()) {
                Some(true) => plan.published = Some(table.get_ref().clone()),
                Some(false) => {
                    let message = format!(
                        "the number of columns of table `{}` differs from the number of parts of the chart",
                        table.get_ref()
                    );
                    return Err(self.source.error(table.span(), message));
                }
                None => {
                    let known: Vec<&String> = tables.keys().collect();
                    return Err(self.source.unknown("table of claims", table, &known));
                }
            }
        }
        for measure in &file.measures {
            let measure = self.measure(&plan, measure)?;
            plan.measures.push(measure);
        }
        Ok(plan)
    }

    fn names(
        &self,
        what: &'static str,
        names: Option<&Vec<Spanned<String>>>,
        known: &[&str],
        otherwise: &[&str],
    ) -> Result<Vec<String>, Error> {
        let Some(names) = names else { return Ok(otherwise.iter().map(|name| (*name).to_owned()).collect()) };
        let known = |name: &Spanned<String>| match known.contains(&name.get_ref().as_str()) {
            true => Ok(name.get_ref().clone()),
            false => Err(self.source.unknown(what, name, known)),
        };
        names.iter().map(known).collect()
    }

    fn measure(&self, plan: &FigurePlan, file: &MeasureFile) -> Result<Measure, Error> {
        let (id, claim) = (file.claim.get_ref(), self.claim(&file.claim)?);
        if let Some(value) = &file.largest {
            return self.largest(plan, file, claim.kind, value);
        }
        if let Some([rising, with]) = &file.rises {
            return self.rises(plan, file, claim.kind, rising, with);
        }
        if let Some(values) = &file.spread {
            return self.spread(plan, file, claim.kind, values);
        }
        if claim.kind != Kind::Order && !claim.has_figure() {
            let message =
                format!("claim `{id}` has no measured number, expected a table `[[litmus]]` for it");
            return Err(self.source.error(file.claim.span(), message));
        }
        let (text, what) = match (&file.value, &file.holds, claim.kind == Kind::Order) {
            (Some(text), None, false) => (text, Metric::Value(self.expr(plan, text)?)),
            (None, Some(text), true) => {
                let order = Comparison::parse_all(text.get_ref(), self.definitions)
                    .map_err(|wrong| misfit(self.source, text, &wrong))?;
                for side in order.iter().flat_map(|c| [&c.left, &c.right]) {
                    self.check(plan, text, side)?;
                }
                (text, Metric::Order(order))
            }
            (.., is_order) => {
                let key = if is_order { "holds" } else { "value" };
                let kind = claim.kind.name();
                let message = format!("claim `{id}` has the kind `{kind}`, expected the key `{key}` alone");
                return Err(self.source.error(file.claim.span(), message));
            }
        };
        let inputs = self.inputs(plan, file)?;
        Ok(Measure { claim: id.clone(), text: text.get_ref().clone(), what, fold: file.fold, inputs })
    }

    /// The claim with this identifier.
    fn claim(&self, id: &Spanned<String>) -> Result<&Claim, Error> {
        let claims = &self.paper.claims.claims;
        claims.iter().find(|claim| claim.id == *id.get_ref()).ok_or_else(|| {
            let known: Vec<&str> = claims.iter().map(|claim| claim.id.as_str()).collect();
            self.source.unknown("claim", id, &known)
        })
    }

    fn verified(&self, file: &VerifiedFile) -> Result<VerifiedClaim, Error> {
        let infos = || zoo::ALL.iter();
        let names: Vec<&str> = infos().map(|info| info.name).collect();
        let models: BTreeSet<&str> = infos().flat_map(|info| info.claims).map(|claim| claim.model).collect();
        let model = file.model.get_ref();
        if !models.contains(model.as_str()) {
            let models: Vec<&str> = models.into_iter().collect();
            return Err(self.source.unknown("claimed model", &file.model, &models));
        }
        Ok(VerifiedClaim {
            claim: self.claim(&file.claim)?.id.clone(),
            model: model.clone(),
            protocols: self.names("protocol", Some(&file.protocols), &names, &[])?,
        })
    }

    fn litmus(&self, file: &LitmusFile) -> Result<Litmus, Error> {
        let claim = &self.claim(&file.claim)?.id;
        let test = TESTS.into_iter().find(|(name, _)| name == file.test.get_ref());
        let test = test.ok_or_else(|| {
            self.source.unknown("litmus test of a figure", &file.test, &TESTS.map(|(name, _)| name))
        })?;
        let model = |name: &Spanned<String>| {
            let wrong = |error| self.source.error(name.span(), format!("{error}"));
            name.get_ref().parse().map_err(|error: ::litmus::hrf::UnknownName| wrong(error))
        };
        Ok(Litmus {
            claim: claim.clone(),
            test,
            models: file.models.iter().map(model).collect::<Result<_, _>>()?,
            inclusion: file.inclusion,
            races: file.races,
            verdict: file.verdict,
        })
    }

    fn rises(
        &self,
        plan: &FigurePlan,
        file: &MeasureFile,
        kind: Kind,
        rising: &Spanned<String>,
        with: &Spanned<String>,
    ) -> Result<Measure, Error> {
        let id = file.claim.get_ref();
        if kind != Kind::Order || file.value.is_some() || file.holds.is_some() {
            let message = format!("claim `{id}`: `rises` needs the kind `order`, without `value` or `holds`");
            return Err(self.source.error(file.claim.span(), message));
        }
        let what = Metric::Rises(self.expr(plan, rising)?, self.expr(plan, with)?);
        let text = format!("{} rises with {}", rising.get_ref(), with.get_ref());
        let inputs = self.inputs(plan, file)?;
        Ok(Measure { claim: id.clone(), text, what, fold: file.fold, inputs })
    }

    fn spread(
        &self,
        plan: &FigurePlan,
        file: &MeasureFile,
        kind: Kind,
        values: &[Spanned<String>],
    ) -> Result<Measure, Error> {
        let id = file.claim.get_ref();
        let is_alone = file.value.is_none() && file.holds.is_none() && file.fold == Fold::Mean;
        if !matches!(kind, Kind::Number | Kind::AtMost) || !is_alone || values.len() < 2 {
            let message = format!(
                "claim `{id}`: `spread` needs the kind `number` or `at-most`, and two values or more, without \
                 `value`, `holds` or `fold`"
            );
            return Err(self.source.error(file.claim.span(), message));
        }
        let what = values.iter().map(|text| self.expr(plan, text)).collect::<Result<_, _>>()?;
        let texts: Vec<&str> = values.iter().map(|text| text.get_ref().as_str()).collect();
        let text = format!("spread of the means of {}", texts.join(", "));
        let inputs = self.inputs(plan, file)?;
        Ok(Measure { claim: id.clone(), text, what: Metric::Spread(what), fold: file.fold, inputs })
    }

    fn largest(
        &self,
        plan: &FigurePlan,
        file: &MeasureFile,
        kind: Kind,
        value: &Spanned<String>,
    ) -> Result<Measure, Error> {
        let id = file.claim.get_ref();
        let what = Metric::Largest(self.expr(plan, value)?);
        let inputs = self.inputs(plan, file)?;
        let is_alone = file.value.is_none()
            && file.holds.is_none()
            && file.rises.is_none()
            && file.spread.is_none()
            && file.fold == Fold::Mean;
        if kind != Kind::Order || !is_alone || inputs.len() >= plan.inputs.len() {
            let message = format!(
                "claim `{id}`: `largest` needs the kind `order` and some of the inputs of the figure, without \
                 `value`, `holds`, `rises`, `spread` or `fold`"
            );
            return Err(self.source.error(file.claim.span(), message));
        }
        let text = format!("{} is largest on {}", value.get_ref(), inputs.join(", "));
        Ok(Measure { claim: id.clone(), text, what, fold: file.fold, inputs })
    }

    /// Parses an expression and checks that the figure has every scenario and variant that the
    /// expression names.
    fn expr(&self, plan: &FigurePlan, text: &Spanned<String>) -> Result<Expr, Error> {
        let value = Expr::parse(text.get_ref(), self.definitions)
            .map_err(|wrong| misfit(self.source, text, &wrong))?;
        self.check(plan, text, &value)?;
        Ok(value)
    }

    /// The inputs of a measure (the value of a claim). If the file names no inputs for the measure,
    /// all inputs of the figure.
    fn inputs(&self, plan: &FigurePlan, file: &MeasureFile) -> Result<Vec<String>, Error> {
        let all: Vec<&str> = plan.inputs.iter().map(String::as_str).collect();
        self.names("input of this figure", file.inputs.as_ref(), &all, &all)
    }

    /// Checks that the figure runs every scenario and variant that an expression names.
    fn check(&self, plan: &FigurePlan, text: &Spanned<String>, value: &Expr) -> Result<(), Error> {
        let mut wrong = None;
        value.quantities(&mut |_, At { scenario, variant }| {
            let scenario = scenario.as_ref().filter(|name| !plan.scenarios.contains(name));
            let variant = variant.as_ref().filter(|name| !plan.variants.contains(name));
            wrong = wrong
                .take()
                .or(scenario.map(|name| Error::unknown("scenario of this figure", name, &plan.scenarios)))
                .or(variant.map(|name| Error::unknown("variant of this figure", name, &plan.variants)));
        });
        wrong.map_or(Ok(()), |error| Err(self.source.error(text.span(), error.to_string())))
    }
}
