//! Table 1 of the STC paper (TACO 2023), cell by cell, against the table of a line in the L1.

use proto::{After, Row, Symbol as _, Table};
use zoo::stc::{Action, Event, L1Table, State};

const EVENTS: [Event; 6] = [Event::Store, Event::Load, Event::LoadU, Event::Data, Event::DataE, Event::Ack];
const STATES: [State; 4] = [State::I, State::V, State::IV, State::II];

/// The printed table. The columns are Store, Load, Load_U, Data, Data_E and WA. A dash is a blank
/// cell. The paper abbreviates: `PW++` and `PW--` count pending writes, and `LD` is the end of a load.
/// A load whose cell has a state goes to the bank.
const PRINTED: [[&str; 6]; 4] = [
    ["I / PW++", "I_V", "I_I", "-", "-", "PW--"],
    ["I / PW++", "Hit", "I_I", "-", "-", "PW--"],
    ["-", "-", "-", "V / LD", "I / LD", "PW--"],
    ["-", "-", "-", "I / LD", "I / LD", "PW--"],
];

/// The printed cells that differ from ours, with the reason that our row gives. In the paper, an ack
/// finds its line in any state. Here, all other accesses of a line wait while a write of the line is
/// pending, as the coalescing unit of section 4.2 makes them do. The write leaves the line absent, so
/// the line is still absent when the ack arrives.
const DEVIATIONS: [(State, Event, &str); 3] = [
    (State::V, Event::Ack, "accesses of a line wait for its pending write"),
    (State::IV, Event::Ack, "accesses of a line wait for its pending write"),
    (State::II, Event::Ack, "accesses of a line wait for its pending write"),
];

/// The cells that are blank in the paper and in which something happens here: an access of a line
/// whose fill is under way waits (section 4.2, the coalescing unit). A store waits before it is
/// issued, in the rows of the events `Write` and `Blocked`.
const WAITING: [(State, Event); 8] = [
    (State::IV, Event::Load),
    (State::IV, Event::LoadU),
    (State::IV, Event::Write),
    (State::IV, Event::Blocked),
    (State::II, Event::Load),
    (State::II, Event::LoadU),
    (State::II, Event::Write),
    (State::II, Event::Blocked),
];

fn name(state: State) -> &'static str {
    match state {
        State::I => "I",
        State::V => "V",
        State::IV => "I_V",
        State::II => "I_I",
    }
}

/// A row in the notation of the paper, in which it leaves out what it does not print: the request to
/// the bank, the bytes and the registers.
fn cell(state: State, row: Row<State, Action>) -> String {
    let (actions, next, after) = match row {
        Row::Do { actions, next, after } => (actions, next, after),
        Row::Stall => return "wait".to_owned(),
        Row::Impossible(_) => return "-".to_owned(),
    };
    let does = |action| actions.contains(&action);
    assert_eq!(does(Action::SendGet), after == After::Wait, "a load waits for the fill that it requests");
    let next = next.unwrap_or(state);
    let fetched = match (does(Action::SendGet), does(Action::Reply)) {
        (true, false) => return name(next).to_owned(),
        (false, true) if next == state => return "Hit".to_owned(),
        (false, false) => [(Action::Issue, "PW++"), (Action::Answer, "LD"), (Action::Complete, "PW--")],
        (_, true) => panic!("a load is answered once"),
    };
    let done: Vec<&str> =
        fetched.into_iter().filter(|&(action, _)| does(action)).map(|(_, text)| text).collect();
    match &done[..] {
        ["PW--"] if next == state => "PW--".to_owned(),
        _ => format!("{} / {}", name(next), done.join(" ")),
    }
}

fn compare<const REPAIRED: bool>() {
    let row = L1Table::<REPAIRED>::row;
    let mut deviations = Vec::new();
    for (state, printed) in STATES.into_iter().zip(PRINTED) {
        for (event, printed) in EVENTS.into_iter().zip(printed) {
            let (row, ours) = (row(state, event), cell(state, row(state, event)));
            if ours != printed && !WAITING.contains(&(state, event)) {
                let Row::Impossible(why) = row else {
                    panic!("{} in {}: {ours}, and the paper prints {printed}", event.name(), state.name())
                };
                deviations.push((state, event, why));
            }
        }
    }
    assert_eq!(deviations, DEVIATIONS);
    for (state, event) in WAITING {
        assert_eq!(row(state, event), Row::Stall, "{} in {}", event.name(), state.name());
    }
}

#[test]
fn the_rows_are_those_of_the_printed_table_but_for_the_listed_deviations() {
    compare::<false>();
    compare::<true>();
}

/// The fill of a load that is not cached leaves no copy, and only a fill that the paper calls `Data`
/// leaves one.
#[test]
fn only_data_of_a_cacheable_load_fills_a_way() {
    for state in STATES {
        for event in [Event::Data, Event::DataE] {
            let row = L1Table::<true>::row(state, event);
            let fills = matches!(row, Row::Do { actions, .. } if actions.contains(&Action::Fill));
            assert_eq!(fills, (state, event) == (State::IV, Event::Data));
        }
    }
}
