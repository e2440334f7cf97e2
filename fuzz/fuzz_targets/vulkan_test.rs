//! Any code of two threads is read as a Vulkan test or refused with a place; what is
//! read is checked for a moment, and asked whether it ends under each scheduler.
#![no_main]

use libfuzzer_sys::fuzz_target;
use litmus::check::{Options, check};
use litmus::progress::{Scheduler, liveness};

fuzz_target!(|code: &str| {
    let head = "VULKAN fuzz\n{ x=0; y=0; z aliases x; }\n{ ssw 0 1; }\n";
    let threads = "P0@sg 0,wg 0,qf 0 | P1@sg 0,wg 1,qf 0 ;\n";
    let text = format!("{head}{threads}{code}\nexists (x == 1)");
    let Ok(program) = litmus::parse::parse(&text) else { return };
    let Some(Ok(model)) = litmus::cat::shipped("vulkan") else { return };
    let options = || {
        let mut looks = 0;
        let stop = move || {
            looks += 1;
            looks > 50
        };
        Options { unroll: 1, stop: Box::new(stop) }
    };
    if let Ok(report) = check(&program, &model, &mut options()) {
        assert!(report.complete || report.bound.is_some());
    }
    for scheduler in Scheduler::ALL {
        if let Ok(report) = liveness(&program, &model, scheduler, &mut options()) {
            assert_eq!(report.verdict, report.witness.is_none());
            let _ = (report.block(), report.describe(&program), report.json(&program, "file"));
        }
    }
});
