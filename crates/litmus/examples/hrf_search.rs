//! Searches generated programs for counterexamples to claims of the HRF (heterogeneous-race-free)
//! paper, and for the smallest programs on which the models of the paper give different answers.
//!
//! `cargo run --release -p litmus --example hrf_search THREADS OPERATIONS LOCATIONS [KIND,...]`
//!
//! `KIND` is a kind of operation that the generated programs may use, such as `Load` or `Barrier`.
//! The error for an unknown kind lists all kinds.

use std::io::Write;

use litmus::generate::{Bound, Generated, Kind, programs};
use litmus::hrf::{self, Model, Options, Reading};

/// The kinds with these names. Commas separate the names.
fn kinds_named(names: &str) -> std::io::Result<Vec<Kind>> {
    let names: Vec<&str> = names.split(',').collect();
    let known = Kind::ALL.map(|kind| format!("{kind:?}"));
    if let Some(name) = names.iter().find(|name| known.iter().all(|kind| kind != *name)) {
        let known = known.join(", ");
        return Err(std::io::Error::other(format!("there is no kind '{name}'; the kinds are {known}")));
    }
    Ok(Kind::ALL.into_iter().filter(|kind| names.contains(&format!("{kind:?}").as_str())).collect())
}

fn race_free(generated: &Generated, reading: Reading) -> bool {
    let options = Options { first_race_only: true, ..Options::new(reading) };
    hrf::check(&generated.program, &options).is_ok_and(|verdict| verdict.is_race_free())
}

fn main() -> std::io::Result<()> {
    let numbers: Vec<usize> = std::env::args().skip(1).take(3).filter_map(|arg| arg.parse().ok()).collect();
    let [threads, operations, locations] = numbers[..] else {
        return Err(std::io::Error::other("expected the numbers of threads, operations and locations"));
    };
    let mut bound = Bound::new(threads, operations, locations);
    bound.single_thread_scopes = true;
    if let Some(names) = std::env::args().nth(4) {
        bound.kinds = kinds_named(&names)?;
    }
    let of = Reading::of;
    let separated = [
        ("drf", of(Model::Drf), of(Model::HrfIndirect).with_inclusion()),
        ("indirect", of(Model::HrfIndirect), of(Model::HrfDirect)),
        ("inclusion", of(Model::HrfDirect).with_inclusion(), of(Model::HrfDirect)),
        (
            "inclusion-indirect",
            of(Model::HrfIndirect).with_inclusion(),
            of(Model::HrfDirect).with_inclusion(),
        ),
        ("any-location", of(Model::HrfDirect), of(Model::HrfDirect).same_location()),
        ("any-location-indirect", of(Model::HrfIndirect), of(Model::HrfIndirect).same_location()),
        ("COUNTEREXAMPLE compat", of(Model::HrfDirect), of(Model::HrfIndirect)),
    ];
    let mut found = vec![0u64; separated.len()];
    let mut found_data = vec![0u64; separated.len()];
    let mut synchronized = 0u64;
    let mut count = 0u64;
    let mut out = std::io::stdout();
    for generated in programs(&bound) {
        count += 1;
        let drf = race_free(&generated, of(Model::Drf));
        if !drf {
            continue;
        }
        if litmus::generate::verdict_if_synchronized(&generated, &Options::new(of(Model::Drf)))
            .is_ok_and(|v| v.is_some())
        {
            synchronized += 1;
        }
        for (n, (name, free, racy)) in separated.iter().enumerate() {
            if !race_free(&generated, *free) || race_free(&generated, *racy) {
                continue;
            }
            found[n] += 1;
            let text = generated.to_text();
            if found[n] == 1 {
                writeln!(out, "(* {name}: race-free under {free}, not under {racy} *)\n{text}")?;
            }
            let orders_data = litmus::generate::verdict_if_synchronized(&generated, &Options::new(*free));
            if orders_data.is_ok_and(|verdict| verdict.is_some()) {
                found_data[n] += 1;
                if found_data[n] == 1 {
                    writeln!(
                        out,
                        "(* {name}, with data: race-free under {free}, not under {racy} *)\n{text}"
                    )?;
                }
            }
        }
    }
    writeln!(out, "{count} programs, {synchronized} race-free under drf with data ordered")?;
    for (n, (name, ..)) in separated.iter().enumerate() {
        writeln!(out, "{name}: {}, of these {} order data", found[n], found_data[n])?;
    }
    Ok(())
}
