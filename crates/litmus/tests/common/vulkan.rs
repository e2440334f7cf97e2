//! Small Vulkan tests made at random from a seed, as text.
#![allow(unreachable_pub, reason = "it is a module of several tests")]

use std::fmt::Write as _;

/// A small deterministic source of choices.
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.roll(of.len())]
    }
}

/// Storage-class semantics, and those of availability and visibility.
fn semantics(dice: &mut Dice, text: &mut String) {
    text.push_str(dice.one(&[".semsc0", ".semsc0", ".semsc1", ".semsc0.semsc1"]));
    text.push_str(dice.one(&["", "", ".semav", ".semvis", ".semav.semvis"]));
}

fn scope(dice: &mut Dice) -> &'static str {
    dice.one(&[".sg", ".wg", ".wg", ".qf", ".dv", ".dv"])
}

/// The modifiers of an access; `orders` are those that it may have, `mark` makes it
/// available or visible.
fn access(dice: &mut Dice, text: &mut String, atomic: bool, orders: &[&str], mark: &str) {
    if atomic {
        let order = dice.one(orders);
        let _ = write!(text, ".atom{order}{}", scope(dice));
        text.push_str(dice.one(&[".sc0", ".sc0", ".sc1"]));
        if !order.is_empty() {
            semantics(dice, text);
        }
        return;
    }
    match dice.roll(4) {
        0 => {}
        1 => text.push_str(".nonpriv"),
        _ => {
            let _ = write!(text, "{mark}{}", scope(dice));
        }
    }
    text.push_str(dice.one(&[".sc0", ".sc0", ".sc1"]));
}

fn instruction(dice: &mut Dice, number: usize, device: bool) -> String {
    let place = dice.one(&["x", "x", "y", "z"]);
    let mut text = String::new();
    match dice.roll(12) {
        0..=3 => {
            text.push_str("st");
            let atomic = dice.roll(2) == 0;
            access(dice, &mut text, atomic, &["", ".rel", ".rel"], ".av");
            let _ = write!(text, " {place}, {number}");
        }
        4..=6 => {
            text.push_str("ld");
            let atomic = dice.roll(2) == 0;
            access(dice, &mut text, atomic, &["", ".acq", ".acq"], ".vis");
            let _ = write!(text, " r{number}, {place}");
        }
        7..=8 => {
            text.push_str("rmw");
            access(dice, &mut text, true, &["", ".acq", ".rel", ".acq_rel"], "");
            text.push_str(dice.one(&["", ".add"]));
            let _ = write!(text, " r{number}, {place}, {number}");
        }
        9 => {
            let order = dice.one(&[".acq", ".rel", ".acq_rel"]);
            let _ = write!(text, "membar{order}{}", scope(dice));
            semantics(dice, &mut text);
        }
        10 if device => text.push_str(dice.one(&["avdevice", "visdevice"])),
        _ => {
            let order = dice.one(&["", ".acq_rel", ".acq_rel"]);
            let _ = write!(text, "cbar{order}{}", dice.one(&[".sg", ".wg", ".dv"]));
            if !order.is_empty() {
                semantics(dice, &mut text);
            }
            text.push_str(" 0");
        }
    }
    text
}

/// A test of two or three threads on two words, one of which has two names.
pub fn test(seed: u64) -> String {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9) ^ 0x5bd1_e995);
    let threads = 2 + dice.roll(2);
    let device = dice.roll(3) == 0;
    let mut columns = Vec::new();
    let mut registers = Vec::new();
    for thread in 0..threads {
        let place = format!("sg {}, wg {}, qf {}", dice.roll(2), dice.roll(2), dice.roll(5) / 4);
        let mut column = vec![format!("P{thread}@{place}")];
        for at in 0..1 + dice.roll(if threads == 2 { 4 } else { 3 }) {
            let number = 1 + thread * 4 + at;
            let instruction = instruction(&mut dice, number, device);
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
