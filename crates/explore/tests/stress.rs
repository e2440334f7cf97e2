//! Random episodes on large machines: protocols that are right pass, those that
//! are not are found out.

use explore::stress::{Options, Stressed, stress};
use proto::{Change, Mutation, Plans, Protocol, Symbol as _};
use zoo::Visit;
use zoo::vi::{L1Plans, Step, Vi};
use zoo::vi_targeted::ViTargeted;

fn options(episodes: u64, mutation: Option<Mutation>) -> Options<'static> {
    Options { seed: 1, episodes, model: None, mutation, jobs: 2, stop: &|| false }
}

#[derive(Clone, Copy)]
struct Under(u64);

impl Visit for Under {
    type Output = Stressed;
    fn visit<P: Protocol>(self) -> Stressed {
        stress::<P>(&options(self.0, None)).expect("it claims a model that episodes are made for")
    }
}

#[test]
fn every_protocol_passes() {
    for info in zoo::ALL {
        let found = zoo::with(info.name, Under(600)).expect("it is registered");
        if let Some(failure) = found.failure {
            panic!("{}: {failure}", info.name);
        }
        assert_eq!(found.episodes, 600);
        assert!(found.checked >= 64 * found.episodes, "{}: {}", info.name, found.checked);
        assert!(found.evictions > found.episodes, "{}: {}", info.name, found.evictions);
    }
}

#[test]
fn what_is_found_does_not_depend_on_how_many_run_at_once() {
    let never_flushes =
        Mutation { table: L1Plans::ID, change: Change::DropStep { step: Step::Flush.index() as u8 } };
    let of = |jobs, mutation| stress::<Vi>(&Options { jobs, ..options(300, mutation) });
    assert_eq!(of(1, None), of(3, None));
    assert_eq!(of(1, Some(never_flushes)), of(3, Some(never_flushes)));
}
