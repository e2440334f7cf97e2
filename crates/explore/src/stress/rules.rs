//! The conditions of the memory models for race-free episodes (random programs).

/// The ways in which an episode (a random program) may order its sections (lists of accesses of one
/// wavefront).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rules {
    /// Whether a chain of synchronization over different scopes orders accesses.
    pub(super) transitive: bool,
    /// Whether any scope narrower than system scope suffices to order the sections (lists of
    /// accesses) of an episode, because scopes are only hints.
    pub(super) hints: bool,
    /// Whether remote operations may order accesses.
    pub(super) remote: bool,
    /// Whether relaxed accesses with fences may order accesses, in place of acquires and
    /// releases.
    pub(super) fences: bool,
}

impl Rules {
    /// The rules for the models that a protocol claims. Models without programs are left out if
    /// another model has programs.
    pub(super) fn of_claims(claimed: &[&str]) -> Result<Rules, String> {
        let first = claimed.iter().position(|model| Rules::of(&[model]).is_ok()).unwrap_or(0);
        Rules::of(&claimed[first..])
    }

    /// The rules for several models: the rules of the first model, with fences if any of the models
    /// defines fences.
    pub(super) fn of(models: &[&str]) -> Result<Rules, String> {
        let fences = models.iter().any(|model| model.starts_with("opencl"));
        let scoped = Rules { transitive: true, hints: false, remote: false, fences };
        match models {
            ["hrf-direct", ..] => Ok(Rules { transitive: false, ..scoped }),
            ["hrf-indirect" | "opencl", ..] => Ok(scoped),
            ["opencl-rsp", ..] => Ok(Rules { remote: true, ..scoped }),
            // The models with fences do not treat scopes as hints. So no protocol promises anything
            // for an episode that relies on both.
            ["drf", ..] => Ok(Rules { hints: true, fences: false, ..scoped }),
            [model, ..] => Err(format!(
                "the random tester makes no programs for the model `{model}`, expected one of hrf-direct, \
                 hrf-indirect, opencl, opencl-rsp, drf"
            )),
            [] => Err(String::from("the protocol claims no model")),
        }
    }
}
