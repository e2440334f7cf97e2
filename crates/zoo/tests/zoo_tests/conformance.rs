//! Requirements that every registered protocol of this crate must meet.

use drive::{At, Nodes};
use proto::{
    Agent, Boundary, ByteMask, Hints, Homes, Hosts, Issuer, KernelId, LineAddr, LineData, Node as _, Op,
    Order, PlanKey, Protocol, Request, RowView, Scope, TableId, TableView, Topology, WritePolicy, page,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use zoo::Visit;

/// Runs a check over every registered protocol.
fn for_all<V: Visit<Output = ()> + Copy>(visit: V) {
    for info in zoo::ALL {
        assert!(zoo::with(info.name, visit).is_some(), "{} is registered under its name", info.name);
    }
}

fn topology() -> Topology {
    Topology::bounded(WritePolicy::Combining, WritePolicy::Combining)
}

#[test]
fn every_registered_name_selects_its_own_protocol() {
    #[derive(Clone, Copy)]
    struct Name;
    impl Visit for Name {
        type Output = &'static str;
        fn visit<P: Protocol>(self) -> &'static str {
            P::INFO.name
        }
    }
    let names: BTreeSet<_> = zoo::ALL.iter().map(|i| i.name).collect();
    assert_eq!(names.len(), zoo::ALL.len(), "names are unique");
    for info in zoo::ALL {
        assert_eq!(zoo::with(info.name, Name), Some(info.name));
        assert!(!info.claims.is_empty(), "{} claims something", info.name);
    }
    assert_eq!(zoo::with("no such protocol", Name), None);
}

#[test]
fn tables_and_plans_have_unique_identities_and_every_impossible_row_has_a_reason() {
    #[derive(Clone, Copy)]
    struct Tables;
    impl Visit for Tables {
        type Output = ();
        fn visit<P: Protocol>(self) {
            let name = P::INFO.name;
            let mut ids: Vec<TableId> = P::tables().iter().map(|t| t.id).collect();
            ids.extend(P::plans().iter().map(|p| p.id));
            let unique: BTreeSet<_> = ids.iter().collect();
            assert_eq!(unique.len(), ids.len(), "{name} uses a table identity twice");
            for table in P::tables() {
                assert_eq!(table.rows.len(), table.states.len() * table.events.len());
                for row in &table.rows {
                    if let RowView::Impossible(why) = row {
                        assert!(!why.is_empty(), "{name}: a row is impossible without a reason");
                    }
                }
            }
        }
    }
    for_all(Tables);
}

/// Several protocols may share an enumeration of actions. Each action must occur in a table row of
/// at least one of these protocols.
#[test]
fn every_action_occurs_in_a_row() {
    #[derive(Clone, Copy)]
    struct Actions;
    impl Visit for Actions {
        type Output = Vec<TableView>;
        fn visit<P: Protocol>(self) -> Vec<TableView> {
            P::tables()
        }
    }
    let mut done: BTreeMap<Vec<_>, BTreeSet<&str>> = BTreeMap::new();
    for table in zoo::ALL.iter().flat_map(|info| zoo::with(info.name, Actions)).flatten() {
        let used = table.rows.iter().filter_map(actions).flatten();
        done.entry(table.actions).or_default().extend(used);
    }
    for (all, done) in done {
        for (action, doc) in all {
            assert!(done.contains(action), "no row does {action}: {doc}");
        }
    }
}

fn actions(row: &RowView) -> Option<Vec<&'static str>> {
    match row {
        RowView::Do(actions, ..) => Some(actions.clone()),
        RowView::Stall | RowView::Impossible(_) => None,
    }
}

#[test]
fn every_operation_has_a_plan() {
    #[derive(Clone, Copy)]
    struct Plans;
    impl Visit for Plans {
        type Output = ();
        fn visit<P: Protocol>(self) {
            for plans in P::plans() {
                for (key, steps) in plans.plans {
                    let PlanKey { op, order, level, .. } = key;
                    assert!(!steps.is_empty(), "{}: no plan for {op:?} {order:?} {level:?}", P::INFO.name);
                }
            }
        }
    }
    for_all(Plans);
}

#[test]
fn a_bounded_instance_is_small_and_quiet_and_every_agent_has_an_entry() {
    #[derive(Clone, Copy)]
    struct Bounded;
    impl Visit for Bounded {
        type Output = ();
        fn visit<P: Protocol>(self) {
            let topology = topology();
            let nodes = Nodes::<P>::new(&topology, Homes::new(&topology, 1), None).unwrap();
            for at in 0..nodes.ids().len() as At {
                let station = nodes.fresh(at);
                assert!(station.is_quiet());
                let mut again = station.clone();
                again.node.canonicalize();
                assert_eq!(station, again, "a fresh controller is in canonical form");
            }
            for agent in [Agent::Cu(0), Agent::Cu(1), Agent::CommandProcessor, Agent::Host(0)] {
                for key in PlanKey::all() {
                    assert!(nodes.entry(agent, key).is_ok(), "{}: {agent:?} {key:?}", P::INFO.name);
                }
            }
            let mut without_banks = topology.clone();
            without_banks.levels[1].count = 0;
            assert!(Nodes::<P>::new(&without_banks, Homes::new(&without_banks, 1), None).is_err());
        }
    }
    for_all(Bounded);
}

#[test]
fn explored_and_tested_settings_are_declared() {
    #[derive(Clone, Copy)]
    struct Explored;
    impl Visit for Explored {
        type Output = ();
        fn visit<P: Protocol>(self) {
            let settings = proto::Settings::explored::<P>();
            for &(name, value) in P::EXPLORED {
                assert_eq!(settings.get(name), Ok(value), "{}", P::INFO.name);
            }
            for machine in 0..12 {
                let settings = proto::Settings::tested::<P>(machine);
                for &(name, values) in P::TESTED {
                    let value = values[machine % values.len()];
                    assert_eq!(settings.get(name), Ok(value), "{}", P::INFO.name);
                }
            }
        }
    }
    for_all(Explored);
}

/// Two kernels run on the smallest machine. On another compute unit, the second kernel reads a word
/// that the first kernel stored. Then the host reads this word.
#[test]
fn a_kernel_and_the_host_read_the_writes_of_the_previous_kernel() {
    #[derive(Clone, Copy)]
    struct Kernels;
    impl Visit for Kernels {
        type Output = ();
        fn visit<P: Protocol>(self) {
            for policy in [WritePolicy::Combining, WritePolicy::Through, WritePolicy::ThroughInvalidate] {
                let topology = Topology::bounded(policy, policy);
                let nodes = Nodes::<P>::new(&topology, Homes::new(&topology, 1), None).unwrap();
                let mut plain = drive::Machine::new(nodes).plain().unwrap();
                let [load, store] = [Op::Load, Op::Store].map(|op| Request {
                    op,
                    order: Order::Plain,
                    scope: Scope::DEVICE,
                    issuer: Issuer::default(),
                    hints: Hints::default(),
                    array: proto::ArrayId(0),
                    line: LineAddr(1),
                    mask: ByteMask::range(0, 4),
                    data: LineData([7; proto::LINE_BYTES_MAX]),
                });
                let mut ask = |agent, request: &Request| plain.ask(agent, request).expect(P::INFO.name);
                // A store of the first compute unit makes the copy of the second stale.
                ask(Agent::Cu(1), &load);
                assert_eq!(ask(Agent::Cu(0), &store), None, "{}", P::INFO.name);
                plain.boundary(Boundary::END, KernelId(0), false).expect(P::INFO.name);
                plain.boundary(Boundary::BEGIN, KernelId(1), false).expect(P::INFO.name);
                for agent in [Agent::Cu(1), Agent::Host(0)] {
                    let found = plain.ask(agent, &load).expect(P::INFO.name).expect("bytes");
                    assert_eq!(found.0[..4], [7; 4], "{} on {agent:?}, {policy:?}", P::INFO.name);
                }
                plain.rest().expect(P::INFO.name);
                // The cache of a host may have bytes that memory does not have.
                if P::INFO.hosts == Hosts::Cached {
                    continue;
                }
                assert_eq!(
                    plain.stage.line(LineAddr(1)).0[..8],
                    [7, 7, 7, 7, 0, 0, 0, 0],
                    "{}",
                    P::INFO.name
                );
            }
        }
    }
    for_all(Kernels);
}

/// The explorer relies on this property of the stations (controllers with their parked inputs): its
/// search skips the requests at the beginning of the first kernel.
#[test]
fn the_beginning_of_a_kernel_on_an_empty_machine_changes_no_station() {
    #[derive(Clone, Copy)]
    struct Begins;
    impl Visit for Begins {
        type Output = ();
        fn visit<P: Protocol>(self) {
            let nodes = Nodes::<P>::new(&topology(), Homes::new(&topology(), 1), None).unwrap();
            let mut plain = drive::Machine::new(nodes.clone()).plain().unwrap();
            let timers = plain.timers().to_vec();
            for host_has_written in [false, true] {
                plain.boundary(Boundary::BEGIN, KernelId(0), host_has_written).expect(P::INFO.name);
                plain.rest().expect(P::INFO.name);
                for at in 0..nodes.ids().len() as At {
                    let mut station = plain.stage.station(at).clone();
                    station.node.canonicalize();
                    assert_eq!(station, nodes.fresh(at), "{} of {}", nodes.name(at), P::INFO.name);
                }
                assert_eq!(plain.timers(), timers, "{}", P::INFO.name);
            }
        }
    }
    for_all(Begins);
}

/// To regenerate the pages, run `FENCEPOST_BLESS=1 cargo test --test zoo_tests conformance`.
#[test]
fn the_generated_part_of_every_page_is_up_to_date() {
    #[derive(Clone, Copy)]
    struct Page;
    impl Visit for Page {
        type Output = ();
        fn visit<P: Protocol>(self) {
            let name = P::INFO.name;
            let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
                .join("../../docs/protocols")
                .join(format!("{name}.md"));
            let on_disk =
                std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            let wanted = page::splice(&on_disk, &page::render::<P>()).unwrap();
            if std::env::var_os("FENCEPOST_BLESS").is_some() {
                std::fs::write(&path, wanted).unwrap();
            } else {
                assert!(on_disk == wanted, "{name}: the page is out of date; run with FENCEPOST_BLESS=1");
            }
        }
    }
    for_all(Page);
}
