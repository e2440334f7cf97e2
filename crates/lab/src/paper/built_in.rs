//! The claims files and the experiment files of papers that are built into the program.

/// The papers with recorded claims, each with the text of its claims file.
pub(crate) const PAPERS: [(&str, &str); 7] = [
    ("hlrc", include_str!("../../../../claims/hlrc.toml")),
    ("hrf", include_str!("../../../../claims/hrf.toml")),
    ("stc", include_str!("../../../../claims/stc.toml")),
    ("dalmia", include_str!("../../../../claims/dalmia.toml")),
    ("mttop", include_str!("../../../../claims/mttop.toml")),
    ("quick-release", include_str!("../../../../claims/quick-release.toml")),
    ("trees", include_str!("../../../../claims/trees.toml")),
];

/// The text of a paper's claims file. Empty for a paper without claims.
pub(crate) fn claims_text(paper: &str) -> &'static str {
    PAPERS.iter().find(|(name, _)| *name == paper).map_or("", |(_, text)| text)
}

macro_rules! built_in {
    ($paper:literal: $($file:literal),+ $(,)?) => {
        ($paper, &[$(($file, include_str!(concat!("../../../../experiments/", $paper, "/", $file)))),+])
    };
}

/// The name and the text of an experiment file.
pub(super) type BuiltIn = (&'static str, &'static str);

/// The papers whose experiment files are built into the program, each with the names and texts of
/// these files.
pub(super) const BUILT_IN: [(&str, &[BuiltIn]); 5] = [
    built_in!("hlrc":
        "paper.toml",
        "fig1.toml",
        "fig4.toml",
        "fig5.toml",
        "fig6.toml",
        "fig7.toml",
        "fig8.toml",
        "fig9.toml",
        "fig10.toml",
        "table6.toml",
        "layout.toml",
        "padding.toml",
        "sensitivity.toml",
        "releases.toml",
        "releases-fig8.toml",
    ),
    built_in!("hrf":
        "paper.toml",
        "fig10.toml",
        "flushes.toml",
        "invalidations.toml",
        "donations.toml",
        "litmus.toml",
        "sensitivity.toml",
        "readings.toml",
        "targeted.toml",
    ),
    built_in!("stc":
        "paper.toml",
        "fig1.toml",
        "fig8.toml",
        "fig9.toml",
        "fig9-no-acquire.toml",
        "fig10.toml",
        "fig11.toml",
        "fig12.toml",
        "handshake.toml",
        "uncached.toml",
        "queue.toml",
        "sensitivity.toml",
        "small-l1.toml",
        "cacheless.toml",
        "tcs.toml",
        "leases.toml",
        "peers.toml",
        "repairs.toml",
        "storage.toml",
        "schedules.toml",
    ),
    built_in!("mttop":
        "paper.toml",
        "fig31.toml",
        "fig34.toml",
        "buffer.toml",
        "directory.toml",
        "large.toml",
        "causes.toml",
        "sensitivity.toml",
        "slow.toml",
        "wavefronts.toml",
    ),
    built_in!("quick-release":
        "paper.toml",
        "fig43.toml",
        "fig44.toml",
        "fig45.toml",
        "fig46.toml",
        "fig47.toml",
        "fig48.toml",
        "fig49.toml",
        "fig410.toml",
        "fig411.toml",
        "double-l1.toml",
        "sizes.toml",
        "sensitivity.toml",
        "causes.toml",
        "storage.toml",
    ),
];

/// The names of the papers whose experiments can be run (reproduced).
#[must_use]
pub fn names() -> Vec<&'static str> {
    BUILT_IN.iter().map(|(name, _)| *name).collect()
}
