//! What programs a memory model makes promises of, as far as episodes go.

/// How sections may be ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rules {
    /// By way of others, at other scopes.
    pub(super) transitive: bool,
    /// At any scope below the system: scopes are hints.
    pub(super) hints: bool,
    /// By remote operations.
    pub(super) remote: bool,
    /// By relaxed accesses with fences, against accesses that order themselves.
    pub(super) fences: bool,
}

impl Rules {
    /// The rules of some models: of the first, but for fences, which any of them
    /// may know.
    pub(super) fn of(models: &[&str]) -> Result<Rules, String> {
        let fences = models.iter().any(|model| model.starts_with("opencl"));
        let scoped = Rules { transitive: true, hints: false, remote: false, fences };
        match models {
            ["hrf-direct", ..] => Ok(Rules { transitive: false, ..scoped }),
            ["hrf-indirect" | "opencl", ..] => Ok(scoped),
            ["opencl-rsp", ..] => Ok(Rules { remote: true, ..scoped }),
            // Who knows fences says nothing of scopes as hints.
            ["drf", ..] => Ok(Rules { hints: true, fences: false, ..scoped }),
            [model, ..] => Err(format!(
                "no episodes are made for the model `{model}`, expected one of hrf-direct, hrf-indirect, opencl, \
                 opencl-rsp, drf"
            )),
            [] => Err(String::from("the protocol claims no model")),
        }
    }
}
