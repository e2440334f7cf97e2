//! Tests machine files with further cache levels, and with settings of protocols.

use std::path::Path;

use lab::systems::{Systems, parse, parse_for};
use proto::Setting;

const SETTINGS: &[Setting] = &[Setting {
    name: "lease_ticks",
    unit: "ticks",
    least: 1,
    most: 1000,
    default: 10,
    about: "how long a line may be read",
}];

const L3: &str = "
[[level]]
name = \"l3\"
per = \"machine\"
count = 4
bytes = 65536
ways = 8
miss_registers = 32
store_buffer_entries = 16
latency_cycles = 100
";

/// The text of a built-in machine file with `more` appended.
fn with(more: &str) -> String {
    format!("{}\n{more}", Systems::default().text("hrf-8cu").unwrap())
}

fn refused(more: &str) -> String {
    let known = [("timed", SETTINGS), ("vi", &[][..])];
    parse_for(Path::new("m.toml"), &with(more), &known).unwrap_err().to_string()
}

/// The place of the first line that contains `text` in the machine file with `more` appended, in
/// the form in which errors show it.
fn line_of(more: &str, text: &str) -> String {
    let at = with(more).lines().position(|line| line.contains(text)).unwrap() + 1;
    format!("m.toml:{at}:")
}

#[test]
fn a_level_and_the_settings_of_a_protocol_are_read() {
    let known = [("timed", SETTINGS)];
    let more = format!("{L3}[protocol.timed]\nlease_ticks = 20\n");
    let system = parse_for(Path::new("m.toml"), &with(&more), &known).unwrap();
    assert_eq!((system.levels[0].name.as_str(), system.levels[0].count), ("l3", 4));
    let array = system.topology().level("l3").unwrap().array.unwrap();
    assert_eq!((array.sets, array.ways), (128, 8));
    assert_eq!((array.miss_registers, array.store_buffer_entries), (32, 16));
    assert_eq!(array.policy, proto::WritePolicy::Combining);
    assert_eq!(system.protocol["timed"]["lease_ticks"], 20);
    // The description is unchanged after writing and reading.
    let again = parse_for(Path::new("m.toml"), &toml::to_string(&system).unwrap(), &known).unwrap();
    assert_eq!(again, system);
}

#[test]
fn a_file_without_levels_and_settings_is_unchanged() {
    let system = parse(Path::new("m.toml"), &with("")).unwrap();
    let names: Vec<String> = system.topology().levels.into_iter().map(|level| level.name).collect();
    assert_eq!(names, ["l1", "l2", "host"]);
    assert_eq!(parse(Path::new("m.toml"), &with(L3)).unwrap().topology().levels.len(), 4);
}

#[test]
fn a_fault_of_a_level_has_its_place() {
    let cases = [
        ("bytes = 65536", "bytes = 65000", "bytes = 65000", "multiple of the size of a set (8 ways of"),
        ("latency_cycles", "latency_cycle", "latency_cycle = 100", "did you mean `latency_cycles`?"),
        ("\"machine\"", "\"planet\"", "planet", "machine"),
        ("count = 4", "count = 0", "count = 0", "1 to 4294967295"),
        ("\"l3\"", "\"l2\"", "name = \"l2\"", "two levels have the name `l2`"),
        ("ways = 8", "ways = 8\nbeside = \"l9\"", "name = \"l3\"", "beside `l9`"),
        ("ways = 8", "ways = 8\nbelow = \"l3\"", "name = \"l3\"", "over itself"),
        ("ways = 8", "ways = 8\nread_pj = -1.0", "read_pj = -1.0", "zero or above"),
    ];
    for (from, to, place, part) in cases {
        let more = L3.replacen(from, to, 1);
        let error = refused(&more);
        assert!(error.contains(part), "{to}: {error}");
        assert!(
            error.starts_with(&line_of(&more, place)),
            "{to}: {error}, expected {}",
            line_of(&more, place)
        );
    }
}

const SIDE: &str = "
[[memory_side]]
name = \"l4\"
bytes = 131072
ways = 8
latency_cycles = 30
write = \"back\"
";

#[test]
fn a_fault_of_a_memory_side_cache_has_its_place() {
    let sound = parse(Path::new("m.toml"), &with(SIDE)).unwrap();
    assert_eq!(parse(Path::new("m.toml"), &toml::to_string(&sound).unwrap()).unwrap(), sound);
    let cases = [
        ("bytes = 131072", "bytes = 131000", "bytes = 131000", "expected 0 or a multiple of 8192 bytes"),
        ("bytes = 131072", "bytes = -1", "bytes = -1", "a whole number from 0 to 9223372036854775807"),
        ("latency_cycles", "latency_cycle", "latency_cycle = 30", "did you mean `latency_cycles`?"),
        ("ways = 8", "ways = 0", "ways = 0", "1 to 4294967295"),
        ("\"back\"", "\"through\"", "write = \"through\"", "unknown value `through`"),
        (
            "\"l4\"",
            "\"noc\"",
            "name = \"noc\"",
            "a memory-side cache `noc`, expected a name other than l1, host",
        ),
        ("ways = 8", "ways = 8\nwrite_pj = -1.0", "write_pj = -1.0", "zero or above"),
    ];
    for (from, to, place, part) in cases {
        let more = SIDE.replacen(from, to, 1);
        let error = refused(&more);
        assert!(error.contains(part) && !error.contains('\n'), "{to}: {error}");
        assert!(error.starts_with(&line_of(&more, place)), "{to}: {error}");
    }
}

#[test]
fn a_fault_of_a_setting_has_its_place_and_the_nearest_name() {
    let cases = [
        ("[protocol.timed]\nlease_ticks = 2000\n", "lease_ticks", "2000 ticks, expected 1 to 1000"),
        ("[protocol.timed]\nlease_tick = 20\n", "lease_tick", "did you mean `lease_ticks`?"),
        ("[protocol.timd]\nlease_ticks = 20\n", "[protocol.timd]", "did you mean `timed`?"),
        ("[protocol.vi]\nlease_ticks = 20\n", "lease_ticks", "protocol `vi` has no settings"),
        ("[protocol.timed]\nlease_ticks = -1\n", "lease_ticks", "-1"),
    ];
    for (more, place, part) in cases {
        let error = refused(more);
        assert!(error.contains(part), "{more}: {error}");
        assert!(error.starts_with(&line_of(more, place)), "{more}: {error}");
    }
}
