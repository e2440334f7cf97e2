//! Loads the model of a command: a built-in model, or a file of the user.

use std::path::{Path, PathBuf};

use lab::catalog::model_names;
use litmus::cat::{Model, Prelude, shipped, shipped_file};
use litmus::hrf;
use litmus::parse::Macros;
use litmus::progress::Scheduler;
use litmus::suite::{Judge, Method};

use super::files::read_text;
use crate::Failure;
use crate::args::{LitmusArguments, Property, RelaxedAs, SyncOrder};

/// The judge for the model and the options on the command line. A judge decides which executions of
/// a test the model allows.
pub(super) fn judge(arguments: &LitmusArguments) -> Result<Judge, Failure> {
    let method = match arguments.model.parse::<hrf::Model>() {
        _ if arguments.property == Property::Liveness => liveness(arguments)?,
        _ if arguments.scheduler.is_some() => {
            return Err(Failure::BadInput(String::from("--scheduler applies only with --property liveness")));
        }
        Ok(model) => {
            model_options(arguments)?;
            Method::Explored(reading(arguments, model))
        }
        Err(_) => Method::Clauses(Box::new(clauses(arguments)?)),
    };
    let judge = Judge { method, unroll: arguments.unroll };
    if arguments.expect_race_free.is_some() && !judge.defines_races() {
        return Err(Failure::BadInput(format!(
            "--expect-race-free: the model `{}` defines no races",
            arguments.model
        )));
    }
    Ok(judge)
}

/// Checks the options for a model that is not in the cat language. Returns an error if the user
/// gives an option that applies only to models in this language.
fn model_options(arguments: &LitmusArguments) -> Result<(), Failure> {
    let options = [
        ("--variant", !arguments.variant.is_empty()),
        ("--bell", arguments.bell.is_some()),
        ("-I", !arguments.include.is_empty()),
    ];
    match options.into_iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((option, _)) => Err(Failure::BadInput(format!(
            "{option} applies to models in the cat language, not to `{}`",
            arguments.model
        ))),
    }
}

/// The method that searches for executions that do not terminate.
fn liveness(arguments: &LitmusArguments) -> Result<Method, Failure> {
    if arguments.model.parse::<hrf::Model>().is_ok() {
        return Err(Failure::BadInput(format!(
            "--property liveness needs a model that allows or forbids whole executions; `{}` does not",
            arguments.model
        )));
    }
    let model = Box::new(clauses(arguments)?);
    Ok(Method::Liveness(model, arguments.scheduler.unwrap_or(Scheduler::Fair)))
}

fn reading(arguments: &LitmusArguments, model: hrf::Model) -> hrf::Reading {
    hrf::Reading {
        model,
        so: match arguments.so {
            None | Some(SyncOrder::AnyLocation) => hrf::SyncOrder::AnyLocation,
            Some(SyncOrder::SameLocation) => hrf::SyncOrder::SameLocation,
        },
        inclusion: arguments.inclusion,
        relaxed_as: arguments.relaxed_as.map(|relaxed_as| match relaxed_as {
            RelaxedAs::Data => hrf::RelaxedAs::Data,
            RelaxedAs::Sync => hrf::RelaxedAs::Sync,
            RelaxedAs::AcqRel => hrf::RelaxedAs::AcqRel,
        }),
    }
}

fn clauses(arguments: &LitmusArguments) -> Result<Model, Failure> {
    let name = arguments.model.as_str();
    let mut model = match shipped(name) {
        Some(_) if arguments.bell.is_some() => {
            return Err(Failure::BadInput(format!(
                "--bell needs a model of your own, but `{name}` is built in"
            )));
        }
        Some(model) => model.map_err(|error| Failure::BadInput(error.to_string()))?,
        None => own(name, arguments)?,
    };
    model.variants = arguments.variant.iter().cloned().collect();
    let options = [
        ("--so", arguments.so.is_some()),
        ("--inclusion", arguments.inclusion),
        ("--relaxed-as", arguments.relaxed_as.is_some()),
        ("--advise", arguments.advise),
    ];
    match options.into_iter().find(|(_, given)| *given) {
        None => Ok(model),
        Some((option, _)) => Err(Failure::BadInput(format!(
            "{option} applies to the models drf, hrf-direct and hrf-indirect, not to `{name}`"
        ))),
    }
}

fn own(name: &str, arguments: &LitmusArguments) -> Result<Model, Failure> {
    let path = Path::new(name);
    let looks_like_file = name.ends_with(".cat") || path.components().count() > 1 || path.is_file();
    if !looks_like_file {
        let error = lab::Error::unknown("model", name, &model_names());
        return Err(Failure::BadInput(error.and("To use your own model, give the path of a .cat file")));
    }
    let text = read_text(path).map_err(Failure::BadInput)?;
    let folders: Vec<&Path> =
        path.parent().into_iter().chain(arguments.include.iter().map(PathBuf::as_path)).collect();
    let mut include = |file: &str| {
        let found = folders.iter().map(|folder| folder.join(file)).find(|path| path.exists());
        found.map_or_else(|| shipped_file(file), |path| read_text(&path))
    };
    let mut bell = None;
    if let Some(path) = &arguments.bell {
        bell = Some((path.display().to_string(), read_text(path).map_err(Failure::BadInput)?));
    }
    let preludes: Vec<Prelude<'_>> = bell.iter().map(|(file, text)| Prelude { file, text }).collect();
    Model::parse_after(&preludes, name, name, &text, &mut include)
        .map_err(|error| Failure::BadInput(error.to_string()))
}

/// The macros for tests in C: those in the user's file, otherwise those of the Linux kernel's
/// functions.
pub(super) fn macros(arguments: &LitmusArguments) -> Result<Macros, Failure> {
    let Some(path) = &arguments.macros else { return Ok(Macros::kernel().clone()) };
    let file = path.display().to_string();
    let text = read_text(path).map_err(Failure::BadInput)?;
    Macros::parse(&text).map_err(|error| Failure::BadInput(error.in_file(&file).to_string()))
}
