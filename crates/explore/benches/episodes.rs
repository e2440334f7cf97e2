//! How many random episodes a second, one at a time.
//!
//! `cargo bench -p explore --bench episodes -- [PROTOCOL] [EPISODES]`

#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a benchmark tells its figures and reads the clock"
)]

use std::time::Instant;

use explore::stress::{Options, stress};
use proto::Protocol;

struct Bench(u64);

impl zoo::Visit for Bench {
    type Output = ();

    fn visit<P: Protocol>(self) {
        let begin = Instant::now();
        let options = Options {
            seed: 0,
            episodes: self.0,
            model: None,
            mutation: None,
            chiplets: 1,
            jobs: 1,
            stop: &|| false,
            progress: &|_| {},
        };
        let found = stress::<P>(&options).expect("episodes are made for what it claims");
        let seconds = begin.elapsed().as_secs_f64();
        if let Some(failure) = &found.failure {
            println!("{}: {failure}", P::INFO.name);
        }
        let a_second = |count: u64| count as f64 / seconds;
        println!(
            "{:<14} {:>8.0} episodes, {:>9.0} checked values, {:>9.0} operations, {:>9.0} evictions a second",
            P::INFO.name,
            a_second(found.episodes),
            a_second(found.checked),
            a_second(found.operations),
            a_second(found.evictions),
        );
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let episodes = arguments.get(1).and_then(|word| word.parse().ok()).unwrap_or(20_000);
    for info in zoo::ALL {
        if arguments.first().is_none_or(|name| name == info.name) {
            zoo::with(info.name, Bench(episodes));
        }
    }
}
