//! Assigns a level of a machine to each kind of controller of a protocol.

use crate::divisor::Divisor;
use crate::homes::Homes;
use crate::line::LineAddr;
use crate::node::NodeId;
use crate::topology::{CacheShape, MemoryLevel, Per, Topology};

/// The controllers of the level above that a controller serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Serves {
    /// All controllers of the level above, for the lines whose home is this controller.
    Home,
    /// The controllers of this controller's own compute unit, chiplet or host, for all lines.
    Own,
}

/// A kind of controller, with its level in a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// The name of the kind in reports, for example `L1`.
    pub name: &'static str,
    /// The name of the kind's level in machines, for example `l1`.
    pub level: &'static str,
    /// The part of the machine that has its own controllers of this kind: one controller for a
    /// compute unit or host, one or more for a chiplet or the machine.
    pub per: Per,
    /// Whether the level must have lines (be a cache).
    pub has_lines: bool,
    /// The name of the level below, which serves the kind's misses; `None` for memory.
    pub over: Option<&'static str>,
    /// The controllers of the level above that a controller of this kind serves.
    pub serves: Serves,
    /// The name of the level whose place or shape the kind's level takes if the machine does not
    /// declare the kind's level with lines; see [`Kind::like`].
    pub like: Option<&'static str>,
}

impl Kind {
    /// A kind of controller that keeps lines. The machine must declare the level of this kind.
    #[must_use]
    pub const fn cache(name: &'static str, level: &'static str, per: Per) -> Kind {
        Kind { name, level, per, has_lines: true, over: None, serves: Serves::Home, like: None }
    }

    /// A kind of controller that keeps no lines. `per` names the part of the machine (such as a
    /// chiplet) that has its own controller. If the machine does not declare the level, each such
    /// part has one controller with its own connection to the network.
    #[must_use]
    pub const fn port(name: &'static str, level: &'static str, per: Per) -> Kind {
        Kind { has_lines: false, ..Kind::cache(name, level, per) }
    }

    /// A copy of this kind of controller, with `level` as the next level towards memory.
    #[must_use]
    pub const fn over(self, level: &'static str) -> Kind {
        Kind { over: Some(level), ..self }
    }

    /// A copy of this kind of controller. On a machine that does not declare the kind's level with
    /// lines, the caches have the shape of those of the level `like`. If both levels have their
    /// controllers in the same part of the machine, the kind's level takes the place of the level
    /// `like`: it has as many controllers, and the levels above that level are above the kind's
    /// level. If the protocol also has a kind at the level `like`, the kind's level is directly below
    /// that level.
    #[must_use]
    pub const fn like(self, like: &'static str) -> Kind {
        Kind { like: Some(like), ..self }
    }

    /// The level that the kind's level is like on a machine: the level named by [`Kind::like`], if
    /// the machine does not declare the kind's level with lines.
    fn stand_in<'a>(&self, topology: &'a Topology) -> Option<&'a MemoryLevel> {
        let is_declared = topology.level(self.level).is_some_and(|level| level.array.is_some());
        self.like.filter(|_| !is_declared).and_then(|like| topology.level(like))
    }

    /// A copy of this kind of controller. Each controller of the copy serves only the controllers
    /// of its own part of the machine, such as its own chiplet.
    #[must_use]
    pub const fn serving_own(self) -> Kind {
        Kind { serves: Serves::Own, ..self }
    }

    /// A phrase for error messages that says which controllers the kind expects at its level.
    fn expected(&self) -> String {
        let noun = if self.has_lines { "cache" } else { "controller" };
        match self.per {
            Per::Cu | Per::Host => format!("one {noun} for each {}", self.per.name()),
            Per::Chiplet | Per::Machine => {
                format!("a {noun} for each {} (with one or more banks)", self.per.name())
            }
        }
    }
}

/// A level whose controllers share their network connections with the controllers of another level.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Beside {
    /// The name of the level.
    pub name: String,
    /// The number of the level's controllers.
    pub count: u16,
    /// Whether the level's controllers keep lines.
    pub has_lines: bool,
}

/// The rule by which a cache numbers the tags. The number of a line's tag selects its set. If each
/// tag has one line, a tag has the number of its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Indexing {
    /// The number of a tag is the address of its line. A cache that may hold any line uses this rule
    /// if each tag has one line.
    Line,
    /// The number of a tag is the address of a line, divided by the number of banks times the number
    /// of lines of a tag. A cache that may hold any line counts as one bank.
    Divided(Divisor),
    /// The number of a tag is the position of a line among the lines of its chiplet, divided by the
    /// number of banks times the number of lines of a tag. A bank that serves only the lines of its
    /// chiplet uses this rule.
    Home(Divisor),
}

/// The level of a machine at which a kind of controller is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KindLevel {
    /// The name of the level.
    pub name: String,
    /// The part of the machine (compute unit, chiplet, host or whole) that has its own controllers
    /// of this level.
    pub per: Per,
    /// The number of controllers of the level on the whole machine.
    pub count: u16,
    /// The shape of each controller's array of lines. [`CacheShape::NONE`] if the controllers keep
    /// no lines.
    pub array: CacheShape,
    /// The size of a line in bytes.
    pub line_bytes: u16,
    /// The number of successive lines that share a tag.
    pub lines_per_tag: u16,
    /// The kind of the controllers at the next level towards memory, or `None` if memory is next.
    pub below: Option<u8>,
    /// The level with which this level shares its network connections, if any.
    pub beside: Option<Beside>,
    /// The controllers of the level above that each controller serves.
    pub serves: Serves,
    /// The name of the level whose place or shape this level takes, if the machine does not declare
    /// this level with lines; see [`Kind::like`].
    pub like: Option<String>,
    banks: Divisor,
}

impl KindLevel {
    /// A single level on a machine with one chiplet, for tests of code that needs only one
    /// controller.
    #[must_use]
    pub fn alone(array: CacheShape, line_bytes: u16) -> KindLevel {
        KindLevel {
            name: String::new(),
            per: Per::Cu,
            count: 1,
            array,
            line_bytes,
            lines_per_tag: 1,
            below: None,
            beside: None,
            serves: Serves::Home,
            like: None,
            banks: Divisor::new(1),
        }
    }

    /// The rule that numbers the tags of a controller. The number of a line's tag, modulo the number
    /// of sets, is the set of the line.
    pub(crate) fn indexing(&self) -> Indexing {
        let lines = u32::from(self.lines_per_tag);
        let lines_of_banks = Divisor::new(self.banks.number() * lines);
        match (self.per, self.serves, lines) {
            (Per::Cu | Per::Host, _, 1) => Indexing::Line,
            (Per::Cu | Per::Host, ..) => Indexing::Divided(Divisor::new(lines)),
            (Per::Chiplet, Serves::Home, _) => Indexing::Home(lines_of_banks),
            (Per::Chiplet | Per::Machine, ..) => Indexing::Divided(lines_of_banks),
        }
    }
}

/// The levels of a machine: one entry for each kind of controller of a protocol.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Levels {
    /// The number of compute units.
    pub cus: u16,
    /// The number of hosts.
    pub hosts: u16,
    /// The number of chiplets. Each chiplet has the same number of compute units.
    pub chiplets: u16,
    /// The size of a line in bytes.
    pub line_bytes: u16,
    /// The logarithm of the number of lines of a tag to base 2.
    tag_bits: u32,
    kinds: Vec<KindLevel>,
}

impl Levels {
    /// Finds the level of every kind of a protocol.
    ///
    /// # Errors
    /// If the machine does not fit the protocol. The error is a sentence that names the level, the
    /// protocol, and what the protocol expects at the level.
    pub fn fit(protocol: &str, kinds: &[Kind], topology: &Topology) -> Result<Levels, String> {
        topology.check()?;
        let fitted = kinds.iter().map(|kind| find(protocol, kind, kinds, topology));
        let Topology { cus, hosts, chiplets, line_bytes, lines_per_tag, .. } = *topology;
        let kinds = fitted.collect::<Result<_, _>>()?;
        Ok(Levels { cus, hosts, chiplets, line_bytes, tag_bits: lines_per_tag.trailing_zeros(), kinds })
    }

    /// The level at which the controllers of a kind are.
    #[inline]
    #[must_use]
    pub fn of(&self, kind: u8) -> &KindLevel {
        &self.kinds[usize::from(kind)]
    }

    /// Every controller of the machine, kind by kind.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + '_ {
        let kinds = (0..).zip(&self.kinds);
        kinds.flat_map(|(kind, level)| (0..level.count).map(move |index| NodeId { kind, index }))
    }

    /// For a node, all controllers of the level below that may serve the node's lines.
    pub fn all_below(&self, node: NodeId) -> impl Iterator<Item = NodeId> + Clone + use<> {
        let below = self.of(node.kind).below.map(|kind| {
            let level = self.of(kind);
            let banks = level.banks.number() as u16;
            let first = match level.serves {
                Serves::Home => 0,
                Serves::Own => self.group(level.per, node) * banks,
            };
            let count = if level.serves == Serves::Home { level.count } else { banks };
            (first..first + count).map(move |index| NodeId { kind, index })
        });
        below.into_iter().flatten()
    }

    /// The controller of `kind` that serves a line for a node above it.
    #[inline]
    #[must_use]
    pub fn server(&self, kind: u8, node: NodeId, line: LineAddr, homes: &Homes) -> NodeId {
        let level = self.of(kind);
        let (group, number) = match level.serves {
            Serves::Home if level.per == Per::Chiplet => homes.local(line),
            Serves::Home => (0, line.0),
            Serves::Own => (self.group(level.per, node), line.0),
        };
        let (_, bank) = level.banks.divide(number >> self.tag_bits);
        NodeId { kind, index: group * level.banks.number() as u16 + bank as u16 }
    }

    /// The number of the compute unit, chiplet or host (as `per` says) that a node belongs to.
    fn group(&self, per: Per, node: NodeId) -> u16 {
        let level = self.of(node.kind);
        let own = node.index / level.banks.number() as u16;
        match (level.per, per) {
            (from, to) if from == to => own,
            (Per::Cu, Per::Chiplet) => own / (self.cus / self.chiplets),
            _ => 0,
        }
    }
}

impl Topology {
    /// A machine with as many compute units, hosts and chiplets as this one, and with one level for
    /// each of `kinds`. The caches of a level that several compute units share get the shape of
    /// this machine's `l2`. The caches of any other level get the shape of `l1`.
    #[must_use]
    pub fn of_kinds(&self, kinds: &[Kind]) -> Topology {
        let like = |name: &str| self.level(name).map(|level| (level.array, level.count));
        let levels = kinds.iter().map(|kind| {
            let is_shared = matches!(kind.per, Per::Chiplet | Per::Machine) && kind.has_lines;
            let (array, count) = like(if is_shared { "l2" } else { "l1" }).unwrap_or((None, 1));
            MemoryLevel {
                array: array.filter(|_| kind.has_lines),
                below: kind.over.map(str::to_owned),
                ..MemoryLevel::new(kind.level, kind.per).count(count)
            }
        });
        Topology { levels: levels.collect(), ..self.clone() }
    }
}

/// Finds the level of one kind. The error is a sentence that names the level, the protocol, and
/// what the protocol expects at the level.
fn find(protocol: &str, kind: &Kind, kinds: &[Kind], topology: &Topology) -> Result<KindLevel, String> {
    let Kind { level: name, per, .. } = *kind;
    let refuse = |found: &str| {
        Err(format!(
            "level `{name}` {found}, but protocol `{protocol}` expects {} at this level",
            kind.expected()
        ))
    };
    let undeclared = MemoryLevel::new(name, per);
    let like = kind.stand_in(topology);
    let default = like.map(|like| MemoryLevel {
        per: if is_in_place(kind, like) { like.per } else { per },
        count: if is_in_place(kind, like) { like.count } else { 1 },
        array: like.array,
        ..undeclared.clone()
    });
    let level = match default.as_ref().or_else(|| topology.level(name)) {
        Some(level) => level,
        None if kind.has_lines => {
            let names: Vec<String> =
                topology.levels.iter().map(|level| format!("`{}`", level.name)).collect();
            return refuse(&format!("is not among the levels of the machine ({})", names.join(", ")));
        }
        None => &undeclared,
    };
    let is_alone = matches!(per, Per::Cu | Per::Host);
    let fits = level.per == per || per == Per::Chiplet && level.per == Per::Machine;
    if !fits || is_alone && level.count != 1 {
        return refuse(&format!("has {} controllers for each {}", level.count, level.per.name()));
    }
    if kind.has_lines && level.array.is_none() {
        return refuse("has no lines");
    }
    let below = match kind.over {
        None => None,
        Some(over) => {
            // A level that takes the place of another one is below the levels above that one.
            let below = kinds.iter().find(|other| other.level == over);
            let below = below.and_then(|other| other.stand_in(topology));
            let expected = below.map_or(over, |level| &level.name);
            // A level that the machine lacks may also be directly below the level that it is like.
            let is_placed = like.is_some() || expected == name || is_over(topology, level, expected);
            if topology.level(name).is_some() && !is_placed {
                let found =
                    level.below.as_ref().map_or("memory".to_owned(), |below| format!("level `{below}`"));
                return Err(format!(
                    "level `{name}` is over {found}, but protocol `{protocol}` expects this level to be \
                     over level `{over}`"
                ));
            }
            let below = kinds.iter().position(|other| other.level == over).ok_or_else(|| {
                format!("protocol `{protocol}` has no kind of controller at level `{over}`, below `{name}`")
            })?;
            Some(below as u8)
        }
    };
    Ok(KindLevel {
        name: name.to_owned(),
        per: level.per,
        count: topology.count(level) as u16,
        array: level.array.unwrap_or(CacheShape::NONE),
        line_bytes: topology.line_bytes,
        lines_per_tag: topology.lines_per_tag,
        below,
        beside: level.beside.as_ref().and_then(|name| topology.level(name)).map(|other| Beside {
            name: other.name.clone(),
            count: topology.count(other) as u16,
            has_lines: other.array.is_some(),
        }),
        serves: kind.serves,
        like: like.map(|like| like.name.clone()),
        banks: Divisor::new(u32::from(level.count)),
    })
}

/// Whether a kind's level that is like another level takes the place of that level: both have their
/// controllers in the same part of the machine.
fn is_in_place(kind: &Kind, like: &MemoryLevel) -> bool {
    like.per == kind.per || kind.per == Per::Chiplet && like.per == Per::Machine
}

/// Whether the level named `over` is on the path from `level` down to memory.
fn is_over(topology: &Topology, level: &MemoryLevel, over: &str) -> bool {
    let mut at = level;
    // `Topology::check` guarantees that the path ends.
    while let Some(below) = at.below.as_deref() {
        if below == over {
            return true;
        }
        let Some(next) = topology.level(below) else { return false };
        at = next;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::CacheArray;
    use crate::topology::WritePolicy;

    const KINDS: &[Kind] = &[
        Kind::cache("Read", "read", Per::Cu).over("l2"),
        Kind::port("Write", "write", Per::Cu).over("l2"),
        Kind::cache("L2", "l2", Per::Chiplet).over("l3").serving_own(),
        Kind::cache("L3", "l3", Per::Chiplet),
        Kind::port("Manager", "manager", Per::Machine),
    ];

    /// Two chiplets of two compute units each. Each chiplet has two banks of L2 and four banks of
    /// L3.
    fn machine() -> Topology {
        let array = CacheShape {
            sets: 1,
            ways: 2,
            policy: WritePolicy::Combining,
            store_buffer_entries: 2,
            miss_registers: 2,
            ignores_acquires: false,
        };
        let levels = vec![
            MemoryLevel::new("read", Per::Cu).array(array).over("l2"),
            MemoryLevel::new("l2", Per::Chiplet).count(2).array(array).over("l3"),
            MemoryLevel::new("l3", Per::Chiplet).count(4).array(array),
            MemoryLevel::new("host", Per::Host),
        ];
        Topology { cus: 4, hosts: 1, chiplets: 2, line_bytes: 8, lines_per_tag: 1, levels }
    }

    fn refused(change: impl FnOnce(&mut Topology)) -> String {
        let mut topology = machine();
        change(&mut topology);
        Levels::fit("toy", KINDS, &topology).unwrap_err()
    }

    #[test]
    fn a_kind_finds_its_level_and_one_without_lines_needs_no_declaration() {
        let levels = Levels::fit("toy", KINDS, &machine()).unwrap();
        let counts: Vec<u16> = (0..5).map(|kind| levels.of(kind).count).collect();
        assert_eq!(counts, [4, 4, 4, 8, 1]);
        assert_eq!(levels.nodes().count(), 21);
        let below: Vec<Option<u8>> = (0..5).map(|kind| levels.of(kind).below).collect();
        assert_eq!(below, [Some(2), Some(2), Some(3), None, None]);
    }

    #[test]
    fn a_kind_may_skip_levels_below_it() {
        let kinds = [Kind::cache("Read", "read", Per::Cu).over("l3"), KINDS[3]];
        let levels = Levels::fit("toy", &kinds, &machine()).unwrap();
        assert_eq!(levels.of(0).below, Some(1));
    }

    #[test]
    fn a_level_that_the_machine_lacks_takes_the_place_or_the_shape_of_another_one() {
        let array =
            CacheShape { sets: 4, ways: 1, store_buffer_entries: 1, miss_registers: 1, ..CacheShape::NONE };
        let banked = Topology::banked(4, 2, 8, CacheShape { sets: 2, ..array }, array);
        let kinds = [
            Kind::cache("L1", "l1", Per::Cu).over("directory"),
            Kind::cache("Directory", "directory", Per::Chiplet).like("l2"),
            Kind::cache("Host", "host", Per::Host).over("directory").like("l1"),
        ];
        let of = |topology: &Topology| Levels::fit("toy", &kinds, topology);
        let levels = of(&banked).unwrap();
        let [l1, directory, host] = [0, 1, 2].map(|kind| levels.of(kind));
        let shape = |level: &KindLevel| (level.count, level.array.sets, level.below, level.like.clone());
        assert_eq!(shape(l1), (4, 2, Some(1), None));
        assert_eq!(shape(directory), (2, 4, None, Some("l2".to_owned())));
        assert_eq!(shape(host), (1, 2, Some(1), Some("l1".to_owned())));
        // A declared level needs no other one. It must have its place in the machine.
        let mut declared = banked.clone();
        let own = CacheShape { sets: 8, ..array };
        declared.levels.push(MemoryLevel::new("directory", Per::Chiplet).count(4).array(own));
        let refused = of(&declared).unwrap_err();
        assert!(refused.starts_with("level `l1` is over level `l2`, but"), "{refused}");
        declared.levels[1].below = Some("directory".to_owned());
        assert_eq!(shape(of(&declared).unwrap().of(1)), (4, 8, None, None));
        let mut without = banked;
        without.levels.retain(|level| level.name != "l2");
        without.levels[0].below = None;
        let refused = of(&without).unwrap_err();
        assert!(refused.starts_with("level `l1` is over memory, but"), "{refused}");
    }

    #[test]
    fn a_level_that_the_machine_lacks_is_below_a_level_that_the_protocol_uses() {
        let array =
            CacheShape { sets: 4, ways: 1, store_buffer_entries: 1, miss_registers: 1, ..CacheShape::NONE };
        let banked = Topology::banked(4, 2, 8, CacheShape { sets: 2, ..array }, array);
        let kinds = [
            Kind::cache("L1", "l1", Per::Cu).over("l2"),
            Kind::cache("L2", "l2", Per::Chiplet).over("directory"),
            Kind::cache("Directory", "directory", Per::Chiplet).like("l2"),
            Kind::cache("Host", "host", Per::Host).over("directory").like("l1"),
        ];
        let levels = Levels::fit("toy", &kinds, &banked).unwrap();
        let below: Vec<Option<u8>> = (0..4).map(|kind| levels.of(kind).below).collect();
        assert_eq!(below, [Some(1), Some(2), None, Some(2)]);
        let directory = levels.of(2);
        assert_eq!((directory.count, directory.array.sets, directory.like.as_deref()), (2, 4, Some("l2")));
        // A declared level must be on the path from `l2` to memory.
        let mut declared = banked;
        declared.levels.push(MemoryLevel::new("directory", Per::Chiplet).array(array));
        let refused = Levels::fit("toy", &kinds, &declared).unwrap_err();
        assert!(refused.starts_with("level `l2` is over memory, but"), "{refused}");
        declared.levels[1].below = Some("directory".to_owned());
        let levels = Levels::fit("toy", &kinds, &declared).unwrap();
        assert_eq!((levels.of(2).count, levels.of(2).like.as_deref()), (1, None));
    }

    #[test]
    fn compute_units_are_numbered_chiplet_by_chiplet() {
        let levels = Levels::fit("toy", KINDS, &Topology { cus: 8, ..machine() }).unwrap();
        let homes = Homes::new(&machine(), 1);
        let server = |cu| levels.server(2, NodeId { kind: 0, index: cu }, LineAddr(0), &homes).index;
        assert_eq!((0..8).map(server).collect::<Vec<_>>(), [0, 0, 0, 0, 2, 2, 2, 2]);
    }

    #[test]
    fn a_cache_for_lines_of_all_chiplets_uses_its_sets_in_turn() {
        let machine = machine().with_array("l2", |l2| l2.sets = 4);
        let levels = Levels::fit("toy", KINDS, &machine).unwrap();
        let (array, homes) = (CacheArray::new(levels.of(2), 0u8), Homes::new(&machine, 1));
        // Pages have one line, so the lines of a bank alternate between the chiplets.
        let sets: Vec<u32> = (0..4).map(|i| array.set(LineAddr(2 * i), &homes).0).collect();
        assert_eq!(sets, [0, 1, 2, 3]);
    }

    #[test]
    fn a_line_is_served_on_the_own_chiplet_or_at_its_home() {
        let levels = Levels::fit("toy", KINDS, &machine()).unwrap();
        // Pages have one line. The odd pages have their home on the second chiplet.
        let homes = Homes::new(&machine(), 1);
        let node = |kind, index| NodeId { kind, index };
        assert_eq!(levels.server(2, node(0, 3), LineAddr(5), &homes), node(2, 3));
        assert_eq!(levels.server(2, node(0, 1), LineAddr(5), &homes), node(2, 1));
        // Line 5 is the third line of its chiplet, and line 6 the fourth.
        assert_eq!(levels.server(3, node(2, 1), LineAddr(5), &homes), node(3, 6));
        assert_eq!(levels.server(3, node(2, 3), LineAddr(6), &homes), node(3, 3));
        let served: Vec<u16> = levels.all_below(node(0, 2)).map(|node| node.index).collect();
        assert_eq!(served, [2, 3]);
        assert_eq!(levels.all_below(node(2, 3)).count(), 8);
        assert_eq!(levels.all_below(node(3, 0)).count(), 0);
    }

    #[test]
    fn an_error_names_the_level_the_protocol_and_the_expectation() {
        let missing = refused(|t| t.levels.retain(|level| level.name != "l3" && level.name != "l2"));
        for part in ["`read`", "`l2`"] {
            assert!(missing.contains(part), "{missing}");
        }
        let missing = refused(|t| {
            t.levels.retain(|level| level.name != "l3");
            t.levels[1].below = None;
        });
        assert!(missing.starts_with("level `l2` is over memory, but protocol `toy` expects"), "{missing}");
        let lines = refused(|t| t.levels[2].array = None);
        assert!(
            lines.contains("`l3` has no lines, but protocol `toy` expects a cache for each chiplet"),
            "{lines}"
        );
        let shared = refused(|t| t.levels[0].per = Per::Chiplet);
        assert!(shared.contains("`read` has 1 controllers for each chiplet"), "{shared}");
        let over = refused(|t| t.levels[0].below = Some("l3".to_owned()));
        assert!(over.contains("`read` is over level `l3`") && over.contains("over level `l2`"), "{over}");
        let twice = refused(|t| t.levels[0].count = 2);
        assert!(twice.contains("one cache for each compute unit"), "{twice}");
        let beside = refused(|t| t.levels[0].beside = Some("l2".to_owned()));
        assert!(beside.contains("`read`") && beside.contains("`l2`"), "{beside}");
    }
}
