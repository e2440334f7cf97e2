//! Small random Vulkan tests as text, generated from a seed.
#![allow(unreachable_pub, reason = "it is a module of several tests")]

use std::fmt::Write as _;

/// A deterministic pseudo-random generator.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

/// Appends random memory semantics to `text`: storage-class semantics, and availability and
/// visibility semantics.
fn semantics(random: &mut Random, text: &mut String) {
    text.push_str(random.one(&[".semsc0", ".semsc0", ".semsc1", ".semsc0.semsc1"]));
    text.push_str(random.one(&["", "", ".semav", ".semvis", ".semav.semvis"]));
}

fn scope(random: &mut Random) -> &'static str {
    random.one(&[".sg", ".wg", ".wg", ".qf", ".dv", ".dv"])
}

/// Appends the modifiers of an access to `text`. `orders` are the possible memory orders of an
/// atomic access. `mark` is the modifier that makes a plain access available or visible.
fn access(random: &mut Random, text: &mut String, atomic: bool, orders: &[&str], mark: &str) {
    if atomic {
        let order = random.one(orders);
        let _ = write!(text, ".atom{order}{}", scope(random));
        text.push_str(random.one(&[".sc0", ".sc0", ".sc1"]));
        if !order.is_empty() {
            semantics(random, text);
        }
        return;
    }
    match random.below(4) {
        0 => {}
        1 => text.push_str(".nonpriv"),
        _ => {
            let _ = write!(text, "{mark}{}", scope(random));
        }
    }
    text.push_str(random.one(&[".sc0", ".sc0", ".sc1"]));
}

fn instruction(random: &mut Random, number: usize, device: bool) -> String {
    let place = random.one(&["x", "x", "y", "z"]);
    let mut text = String::new();
    match random.below(12) {
        0..=3 => {
            text.push_str("st");
            let atomic = random.below(2) == 0;
            access(random, &mut text, atomic, &["", ".rel", ".rel"], ".av");
            let _ = write!(text, " {place}, {number}");
        }
        4..=6 => {
            text.push_str("ld");
            let atomic = random.below(2) == 0;
            access(random, &mut text, atomic, &["", ".acq", ".acq"], ".vis");
            let _ = write!(text, " r{number}, {place}");
        }
        7..=8 => {
            text.push_str("rmw");
            access(random, &mut text, true, &["", ".acq", ".rel", ".acq_rel"], "");
            text.push_str(random.one(&["", ".add"]));
            let _ = write!(text, " r{number}, {place}, {number}");
        }
        9 => {
            let order = random.one(&[".acq", ".rel", ".acq_rel"]);
            let _ = write!(text, "membar{order}{}", scope(random));
            semantics(random, &mut text);
        }
        10 if device => text.push_str(random.one(&["avdevice", "visdevice"])),
        _ => {
            let order = random.one(&["", ".acq_rel", ".acq_rel"]);
            let _ = write!(text, "cbar{order}{}", random.one(&[".sg", ".wg", ".dv"]));
            if !order.is_empty() {
                semantics(random, &mut text);
            }
            text.push_str(" 0");
        }
    }
    text
}

/// A random test of two or three threads on two words. One of the words has an alias.
pub fn test(seed: u64) -> String {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9) ^ 0x5bd1_e995);
    let threads = 2 + random.below(2);
    let device = random.below(3) == 0;
    let mut columns = Vec::new();
    let mut registers = Vec::new();
    for thread in 0..threads {
        let place = format!("sg {}, wg {}, qf {}", random.below(2), random.below(2), random.below(5) / 4);
        let mut column = vec![format!("P{thread}@{place}")];
        for at in 0..1 + random.below(if threads == 2 { 4 } else { 3 }) {
            let number = 1 + thread * 4 + at;
            let instruction = instruction(&mut random, number, device);
            if instruction.starts_with("ld") || instruction.starts_with("rmw") {
                registers.push(format!("{thread}:r{number}"));
            }
            column.push(instruction);
        }
        columns.push(column);
    }
    let mut text = String::from("VULKAN random\n{ x=0; y=0; z aliases x; }\n");
    if device {
        let _ = writeln!(text, "{{ ssw 0 1;{} }}", if threads == 3 { " ssw 1 2;" } else { "" });
    }
    let rows = columns.iter().map(Vec::len).max().unwrap_or(0);
    for row in 0..rows {
        let cells: Vec<&str> = columns.iter().map(|c| c.get(row).map_or("", String::as_str)).collect();
        let _ = writeln!(text, "{} ;", cells.join(" | "));
    }
    let _ = writeln!(text, "locations [{}]\nexists (0 == 0)", registers.join("; "));
    text
}
