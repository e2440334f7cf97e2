//! How a graph file is to be read.

/// What becomes of something a file should not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Choice {
    /// It is left out, and counted.
    #[default]
    Repair,
    /// It becomes part of the graph.
    Keep,
    /// It is an error.
    Refuse,
}

/// What a file says about edges that stand once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Direction {
    /// What the file says of itself: the symmetry of a Matrix Market header,
    /// `# Undirected graph` in a SNAP file, otherwise each arc is one arc.
    #[default]
    AsStated,
    /// Each entry is an edge: its reverse is added. (METIS has both by definition.)
    BothWays,
    /// Each entry is one arc, whatever the file says.
    OneWay,
}

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Matrix Market, coordinate.
    MatrixMarket,
    /// The `.gr` files of the 9th DIMACS challenge.
    Dimacs,
    /// The files of METIS and of the 10th DIMACS challenge.
    Metis,
    /// Edge lists as SNAP publishes them.
    Snap,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 4] = [Format::MatrixMarket, Format::Dimacs, Format::Metis, Format::Snap];

    /// Its short name, which is also the usual extension.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Format::MatrixMarket => "mtx",
            Format::Dimacs => "gr",
            Format::Metis => "graph",
            Format::Snap => "txt",
        }
    }

    /// What it is, in words.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Format::MatrixMarket => "Matrix Market",
            Format::Dimacs => "DIMACS shortest paths",
            Format::Metis => "METIS",
            Format::Snap => "SNAP edge list",
        }
    }
}

/// How a graph file is to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadOptions {
    /// The format; `None` tells it by name and content.
    pub format: Option<Format>,
    /// Arcs from a vertex to itself.
    pub self_loops: Choice,
    /// Arcs that stand more than once. A repair keeps the least weight.
    pub duplicates: Choice,
    /// Edges that stand once.
    pub direction: Direction,
    /// The most memory that reading may use.
    pub memory_bytes: u64,
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions {
            format: None,
            self_loops: Choice::Repair,
            duplicates: Choice::Repair,
            direction: Direction::AsStated,
            memory_bytes: 4 << 30,
        }
    }
}
