//! The explanation of a forbidden outcome. It names the outcomes that the model allows. It also
//! shows an execution with the forbidden outcome, and the cycle in that execution that the model
//! forbids.

use litmus::check::{self, Options};
use litmus::program::{Condition, Program, Prop, Quantifier};

use crate::machine::outcome::Outcome;
use crate::programs::claim::{Claim, Promise};
use crate::search::show;

/// The maximum number of allowed outcomes that an explanation names.
const NAMED_MAX: usize = 6;

/// The lines of the explanations, for all models that forbid the outcome.
pub(crate) fn of(
    program: &Program,
    outcome: &Outcome,
    promises: &[(Claim, Promise)],
    stop: &dyn Fn() -> bool,
) -> Vec<String> {
    let mut lines = Vec::new();
    for (claim, promise) in promises {
        let Some(allowed) = promise.allowed.as_ref().filter(|allowed| !allowed.contains(outcome)) else {
            continue;
        };
        let model = &claim.model;
        let names: Vec<String> = allowed.iter().take(NAMED_MAX).map(|o| show(program, o)).collect();
        let more = allowed.len() - names.len();
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        lines.push(format!("{model} forbids {}", show(program, outcome)));
        lines.push(format!("{model} allows {}{more}", names.join(" or ")));
        if claim.reading().is_some() {
            lines.push(String::from(
                "the program has no race, so all threads must see one order of all operations",
            ));
        }
        lines.extend(refused(program, outcome, claim, stop));
    }
    lines
}

/// The description of an execution with the outcome, and of the cycle in that execution that the
/// model forbids, as lines of text.
fn refused(program: &Program, outcome: &Outcome, claim: &Claim, stop: &dyn Fn() -> bool) -> Vec<String> {
    // Under a race-free model, a race-free program is sequentially consistent. So the model `sc`
    // gives the cycle.
    let model = match claim.reading() {
        Some(_) => "sc",
        None => &claim.model,
    };
    let Some(Ok(model)) = litmus::cat::shipped(model) else { return Vec::new() };
    let terms = program.state_terms().into_iter().zip(outcome);
    let prop = Prop::And(terms.map(|(term, &value)| Prop::equals(term, value)).collect());
    let condition = Condition { quantifier: Quantifier::Exists, prop };
    let with_condition = Program { condition, ..program.clone() };
    let mut options = Options { stop: Box::new(stop), ..Options::default() };
    let Ok(refusals) = check::refusals(&with_condition, &model, &mut options) else { return Vec::new() };
    let Some(refusal) = refusals.first() else { return Vec::new() };
    let mut lines = vec![format!(
        "only the check `{}` forbids this execution ({}):",
        refusal.check,
        check::cycle_text(&refusal.execution, refusal)
    )];
    lines.extend(check::narrate(&with_condition, &refusal.execution).lines().map(str::to_owned));
    lines
}
