//! Formats the results of the verification of a protocol as JSON.

use lab::verify::{Guards, Verified};
use serde_json::{Value, json};

pub(super) fn report(verified: &Verified<'_>, seconds: f64) -> Value {
    let Verified { verification, tests, operations, test_size, left_out, sample: (sampled, seed), .. } =
        verified;
    let (total, unreached) = &verification.rows;
    let names: Vec<String> = unreached.iter().map(ToString::to_string).collect();
    let violations = verification.findings.iter().enumerate().map(|(at, finding)| {
        let moves: Vec<String> = finding.violation.moves.iter().map(ToString::to_string).collect();
        json!({
            "test": tests[finding.test].name,
            "models": finding.models,
            "why": finding.violation.why,
            "machine": finding.bounds.to_string(),
            "placement": tests[finding.test].placements[finding.placement].to_string(),
            "moves": moves,
            "chart": verified.chart(at),
        })
    });
    let claims = verification.claims.iter();
    let mutants = verification.mutants.as_ref().map(|mutants| {
        let killed = mutants.killed.iter().map(|(name, by)| json!({ "mutant": name, "by": by }));
        // An unreadable record is left out here. A test checks that it can be read.
        let guards = Guards::recorded().unwrap_or_default();
        let guards = guards.of(verification.protocol).map(|run| {
            json!({
                "only": run.only,
                "total": run.counts.total,
                "killed": run.counts.killed,
                "tree": run.tree,
                "protocols": run.protocols,
                "finished": run.finished,
                "chosen": run.chosen,
            })
        });
        json!({
            "guard_runs": guards.collect::<Vec<_>>(),
            "total": mutants.total(),
            "killed": mutants.killed.len(),
            "survivors": mutants.survivors,
            "equivalent": mutants.equivalent.iter().map(|(m, why)| json!({ "mutant": m, "why": why })).collect::<Vec<_>>(),
            "misargued": mutants.misargued,
            "unreached": mutants.unreached,
            "unasked": mutants.unasked,
            "undecided": mutants.undecided,
            "unseeded": mutants.unseeded.iter().map(|(m, why)| json!({ "mutant": m, "why": why })).collect::<Vec<_>>(),
            "kills": killed.collect::<Vec<_>>(),
        })
    });
    let families = verification.families.iter().map(|family| {
        json!({
            "family": family.name,
            "tests": family.tests,
            "synchronized": family.synchronized,
            "states": family.states,
            "kills": family.kills,
        })
    });
    let census = &verification.census;
    let values = census.shares.iter().map(|share| {
        json!({
            "dimension": share.dimension.title(),
            "value": share.value,
            "runs": share.runs,
            "states": share.states,
        })
    });
    let name = |at: usize| format!("{}: {}", census.shares[at].dimension.title(), census.shares[at].value);
    let apart = census.apart.iter().map(|&(one, other)| [name(one), name(other)]);
    json!({
        "protocol": verification.protocol,
        "claims": claims.map(|(m, s)| json!({ "model": m, "cores": verified.cores(m), "status": s.name() })).collect::<Vec<_>>(),
        "tests": verification.tests,
        "operations": operations,
        "test_size": test_size.name(),
        "sample": { "programs": sampled, "seed": seed },
        "left_out": left_out,
        "race_free": verification.race_free,
        "synchronized": verification.synchronized,
        "unsupported": verification.unsupported,
        "unpreempted": verification.unpreempted,
        "runs": verification.runs,
        "states": verification.states,
        "state_bytes": verification.state_bytes,
        "transitions": verification.transitions,
        "complete": verification.complete,
        "gaps": verification.gaps,
        "unproved": verification.unproved,
        "violations": violations.collect::<Vec<_>>(),
        "rows": { "fired": total - unreached.len(), "total": total, "unreached": names },
        "mutants": mutants,
        "families": families.collect::<Vec<_>>(),
        "dimensions": {
            "covered": verification.dimensions.covered,
            "not_covered": verification.dimensions.not_covered,
            "values": values.collect::<Vec<_>>(),
            "pairs": { "together": census.together, "apart": apart.collect::<Vec<_>>() },
        },
        "wall_seconds": seconds,
    })
}
