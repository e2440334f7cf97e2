//! The arcs of a graph in the memory of the machine, and the visit of a vertex's arcs.

use kernel::Use;
use kernel::prelude::*;

use super::input::Arcs;
use crate::instance::GROUP_ITEMS;

/// For each lane, the indices of the first arc of its vertex and of the arc after the last one.
pub(crate) type Bounds = (Lanes<u32>, Lanes<u32>);

/// A graph in the memory of the machine, in compressed sparse rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rows {
    pub(crate) offsets: Array<u32>,
    pub(crate) targets: Array<u32>,
}

impl Rows {
    pub(crate) async fn load(host: &Host, arcs: &Arcs) -> Rows {
        let rows = Rows {
            offsets: host.alloc("offsets", arcs.offsets.len() as u64),
            targets: host.alloc("targets", arcs.targets.len() as u64),
        };
        host.write(rows.offsets, &arcs.offsets).await;
        host.write(rows.targets, &arcs.targets).await;
        rows
    }

    /// The declared uses of the graph's arrays by a kernel in which each vertex has one work-item.
    pub(crate) fn uses(&self) -> [Use; 2] {
        [self.offsets.read().in_parts_with_halo(GROUP_ITEMS, 1), self.targets.read()]
    }

    /// The declared uses of the graph's arrays by a kernel whose work-items may visit any vertex.
    pub(crate) fn uses_anywhere(&self) -> [Use; 2] {
        [self.offsets.read(), self.targets.read()]
    }

    /// The bounds of the arcs of each lane's vertex: the index of the first arc, and the index
    /// after the last arc. Lane 0 has the vertex `first`, and the next lanes have the next
    /// vertices.
    pub(crate) async fn from(&self, w: &Wave, first: u64) -> Bounds {
        let (start, end) = (w.load(self.offsets, Unit(first)), w.load(self.offsets, Unit(first + 1)));
        (start.await, end.await)
    }

    /// The bounds of the arcs of each lane's vertex: the index of the first arc, and the index
    /// after the last arc. `vertex` has the vertex of each lane.
    pub(crate) async fn of(&self, w: &Wave, vertex: Lanes<u32>) -> Bounds {
        let (start, end) = (w.load(self.offsets, vertex), w.load(self.offsets, vertex + 1));
        (start.await, end.await)
    }

    /// Visits the arcs of each lane's vertex. In each round, every lane visits one arc. `visit`
    /// gets the wavefront with those lanes active that still have an arc, the indices of these
    /// arcs, and their targets.
    pub(crate) async fn each_arc(
        &self,
        w: &Wave,
        (mut arc, end): Bounds,
        mut visit: impl AsyncFnMut(&Wave, Lanes<u32>, Lanes<u32>),
    ) {
        let mut todo = w.when(arc.lt(end));
        while todo.any() {
            let target = todo.load(self.targets, arc).await;
            visit(&todo, arc, target).await;
            arc += 1;
            todo = todo.when(arc.lt(end));
        }
    }
}
