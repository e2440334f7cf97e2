//! The publications from which scenarios and memory models come.

/// The memory models, each with the publication that defines it.
const MODELS: [(&str, &str); 14] = [
    ("sc", "Lamport (1979)"),
    ("tso", "Hechtman thesis (Duke 2014), section 2.2.2"),
    ("rmo", "Hechtman thesis (Duke 2014), section 2.2.3; SPARC Architecture Manual 9 (1994)"),
    ("drf", "Adve and Hill (ISCA 1990), HRF paper (ASPLOS 2014)"),
    ("hrf-direct", "HRF paper (ASPLOS 2014), section 3"),
    ("hrf-indirect", "HRF paper (ASPLOS 2014), section 4"),
    ("c11", "Batty, Donaldson, Wickerson (POPL 2016)"),
    ("rc11", "Lahav and others (PLDI 2017)"),
    ("opencl", "Batty, Donaldson, Wickerson (POPL 2016)"),
    ("opencl-scoped", "Batty, Donaldson, Wickerson (POPL 2016), with scopes"),
    ("opencl-rsp", "Wickerson and others (OOPSLA 2015)"),
    ("ptx-6.0", "PTX ISA 6.0; Lustig and others (ASPLOS 2019)"),
    ("ptx-7.5", "PTX ISA 7.5, chapter 8; Lustig, Cooksey, Giroux (ISCA 2022)"),
    ("vulkan", "Vulkan specification, appendix on the memory model"),
];

const OURS: &str = "ours";

pub(crate) fn of_model(name: &str) -> &'static str {
    of(&MODELS, name)
}

fn of(origins: &[(&str, &'static str)], name: &str) -> &'static str {
    origins.iter().find(|(known, _)| *known == name).map_or(OURS, |(_, origin)| origin)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::model_names;

    #[test]
    fn every_name_exists_and_every_model_has_an_origin() {
        assert!(MODELS.iter().all(|(name, _)| model_names().contains(name)));
        assert!(model_names().iter().all(|name| of_model(name) != OURS));
    }
}
