//! The options of a reader of graph files.

/// The way in which a reader handles a defect in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DefectPolicy {
    /// The reader removes the defect from the graph and counts it.
    #[default]
    Repair,
    /// The reader keeps the defect in the graph.
    Keep,
    /// The reader refuses the file.
    Refuse,
}

/// Whether an entry of a file is an arc or an undirected edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The file decides: by the symmetry in a Matrix Market header, or by the comment `# Undirected
    /// graph` in a SNAP file. Without such a declaration, each entry is one arc.
    #[default]
    AsStated,
    /// Each entry is an edge, and the reader adds the reverse arc. (METIS files list both arcs of
    /// an edge by definition.)
    BothWays,
    /// Each entry is one arc, even if the file declares otherwise.
    OneWay,
}

/// A file format for graphs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// The coordinate format of Matrix Market.
    MatrixMarket,
    /// The `.gr` files of the 9th DIMACS challenge.
    Dimacs,
    /// The files of METIS and of the 10th DIMACS challenge.
    Metis,
    /// Edge lists as SNAP publishes them.
    Snap,
}

impl Format {
    /// All file formats.
    pub const ALL: [Format; 4] = [Format::MatrixMarket, Format::Dimacs, Format::Metis, Format::Snap];

    /// The short name of the format, which is also the usual extension of its files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Format::MatrixMarket => "mtx",
            Format::Dimacs => "gr",
            Format::Metis => "graph",
            Format::Snap => "txt",
        }
    }

    /// The full name of the format.
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

/// The options of a reader of graph files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadOptions {
    /// The format of the file. If `None`, the reader detects it by the content and the name.
    pub format: Option<Format>,
    /// The way in which the reader handles self loops.
    pub self_loops: DefectPolicy,
    /// The way in which the reader handles duplicate arcs. Of several arcs between two vertices, a
    /// repair keeps the arc with the least weight.
    pub duplicates: DefectPolicy,
    /// Whether an entry of the file is an arc or an undirected edge.
    pub direction: Direction,
    /// The maximum memory that the reader may use, in bytes.
    pub memory_bytes: u64,
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions {
            format: None,
            self_loops: DefectPolicy::Repair,
            duplicates: DefectPolicy::Repair,
            direction: Direction::AsStated,
            memory_bytes: 4 << 30,
        }
    }
}
