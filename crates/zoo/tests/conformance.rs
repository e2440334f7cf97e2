//! What every protocol must satisfy, whatever it does.

use proto::{
    Agent, Homes, Node as _, PlanKey, Protocol, RowView, Setup, TableId, TableView, Topology, WritePolicy,
    page,
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
fn every_registered_name_leads_to_its_own_protocol() {
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
fn tables_and_plans_have_identities_of_their_own_and_every_impossible_row_says_why() {
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

/// Protocols may share the words of their tables.
#[test]
fn every_action_is_done_by_some_row() {
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
        for (action, what) in all {
            assert!(done.contains(action), "no row does {action}: {what}");
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
fn every_operation_has_a_plan_that_ends() {
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
            let setup = Setup::<P>::new(&topology).unwrap();
            let nodes: Vec<_> = setup.levels.nodes().collect();
            for station in setup.stations() {
                assert!(station.is_quiet());
                let mut again = station.clone();
                again.node.canonicalize();
                assert_eq!(station, again, "a fresh controller is in canonical form");
            }
            for agent in [Agent::Cu(0), Agent::Cu(1), Agent::CommandProcessor, Agent::Host(0)] {
                for key in PlanKey::all() {
                    let entry = P::entry(&setup.params, agent, key);
                    assert!(nodes.contains(&entry), "{}: {agent:?} {key:?}", P::INFO.name);
                }
            }
            let mut without_banks = topology.clone();
            without_banks.levels[1].count = 0;
            assert!(Setup::<P>::new(&without_banks).is_err());
            assert_eq!(Homes::new(&topology, 1).bank(proto::LineAddr(3)), 1);
        }
    }
    for_all(Bounded);
}

/// `FENCEPOST_BLESS=1 cargo test -p zoo` writes the pages anew.
#[test]
fn the_generated_part_of_every_page_is_what_the_code_says() {
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
