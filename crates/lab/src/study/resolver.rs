//! The file of a study, with the functions that every look-up needs: the places of errors, the
//! paths of files and the settings of workloads.

use std::path::{Path, PathBuf};

use serde_json::Value;
use toml::Spanned;
use workloads::Workload;

use super::axis::Axis;
use super::file::{File, SettingFile};
use super::read::Span;
use crate::error::Error;
use crate::source::Source;

/// The name of a run's input, as the study's file gives it. `None` if the workload generates its
/// input.
pub(super) type Input<'a> = Option<&'a Spanned<String>>;

/// The file of a study, whose names are looked up.
pub(super) struct Resolver<'a> {
    pub(super) source: &'a Source,
    pub(super) file: &'a File,
}

impl<'a> Resolver<'a> {
    pub(super) fn at<T>(&self, span: Span, result: Result<T, Error>) -> Result<T, Error> {
        result.map_err(|error| match error {
            // An error about another file already names a place in that file, and keeps it.
            Error::File { .. } => error,
            other => self.source.error(span, other.to_string()),
        })
    }

    /// The path of a file that the study names. A relative path is relative to the folder of the
    /// study.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder().join(name).components().collect()
    }

    /// The folder that contains the study's file.
    pub(super) fn folder(&self) -> &Path {
        self.source.path.parent().unwrap_or(Path::new(""))
    }

    /// The settings that the file gives a workload, with their values. They are the settings that
    /// the file gives for this workload alone, and the settings that the file gives for all
    /// workloads, if this workload has them. For a setting in both groups, the values for this
    /// workload alone apply.
    pub(super) fn settings_of(&self, workload: &Workload) -> Vec<&'a Axis> {
        let has = |axis: &Axis| workload.settings.iter().any(|known| known.name == axis.name);
        let of_it = |setting: &&SettingFile| {
            setting.workload.as_ref().is_some_and(|name| name.get_ref() == workload.name)
        };
        let own: Vec<&Axis> = self.file.settings.iter().filter(of_it).map(|setting| &setting.axis).collect();
        let general = self.file.settings.iter().filter(|setting| setting.workload.is_none());
        let general = general.map(|setting| &setting.axis).filter(|axis| has(axis));
        let general = general.filter(|axis| own.iter().all(|own| own.name != axis.name));
        general.chain(own.iter().copied()).collect()
    }
}

/// A value of a TOML file as a value of JSON.
pub(super) fn json(value: &toml::Value) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}
