//! Whole runs: right answers, the same ones every time.

mod common;

use common::{histogram, histogram_values, run, system, vec_add, vec_add_answer};
use sim::RunOptions;

#[test]
fn vec_add_gives_the_right_answer_on_every_machine() {
    for name in ["hlrc-8cu", "hrf-8cu", "stc-8cu", "titan-v"] {
        let len = 5000;
        let outcome = run(&system(name), vec_add(len), &RunOptions::default()).unwrap();
        outcome.answer.expect("c", &vec_add_answer(len)).unwrap();
    }
}

#[test]
fn histogram_gives_the_right_answer_on_every_machine() {
    for name in ["hlrc-8cu", "hrf-8cu", "stc-8cu", "titan-v"] {
        let len = 3000;
        let outcome = run(&system(name), histogram(len), &RunOptions::default()).unwrap();
        let mut bins = vec![0u32; 256];
        histogram_values(len).iter().for_each(|&v| bins[v as usize] += 1);
        outcome.answer.expect("bins", &bins).unwrap();
    }
}
