//! A B+ tree whose nodes are stored in an array of words.

/// The maximum number of keys in a node. A work-group has the same number of work-items.
pub(super) const ORDER: u32 = 256;

/// The number that fills the places after the last key of a node. It is larger than all keys.
pub(super) const NO_KEY: u32 = u32::MAX;

/// The number of words in a node. A node has its number, its children or records, its keys, a flag
/// that marks a leaf, and the number of its keys. This is the order of Rodinia's structure.
pub(super) const NODE_WORDS: u32 = 1 + 2 * (ORDER + 1) + 2;

/// The offset of the first child or record in a node, in words.
pub(super) const CHILDREN: u32 = 1;

/// The offset of the first key in a node, in words.
pub(super) const KEYS: u32 = CHILDREN + ORDER + 1;

/// A B+ tree whose nodes have as many keys as possible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tree {
    /// The words of all nodes. Node 0 is the root.
    pub(super) words: Vec<u32>,
    /// The number of levels above the leaves.
    pub(super) height: u32,
}

impl Tree {
    /// Builds the tree of `count` keys. `key(i)` is the key of record `i`; the keys must be
    /// ascending.
    pub(super) fn new(count: u32, key: impl Fn(u32) -> u32) -> Tree {
        // The levels, from the leaves to the root. Each node is represented by its smallest key and
        // its entries.
        let entries: Vec<(u32, u32)> = (0..count).map(|record| (key(record), record)).collect();
        let mut levels = vec![entries.chunks(ORDER as usize).map(<[_]>::to_vec).collect::<Vec<_>>()];
        while let Some(last) = levels.last().filter(|level| level.len() > 1) {
            let children: Vec<(u32, u32)> = (0..).zip(last).map(|(i, node)| (node[0].0, i)).collect();
            levels.push(children.chunks(ORDER as usize).map(<[_]>::to_vec).collect());
        }
        let height = levels.len() as u32 - 1;
        let mut words = Vec::new();
        let mut first = 0;
        for (above_leaves, level) in levels.into_iter().enumerate().rev() {
            // The children of this level's nodes come after all nodes of this level.
            let next = first + level.len() as u32;
            for (index, node) in (0..).zip(level) {
                let is_leftmost = index == 0;
                let child = |entry: u32| if above_leaves > 0 { next + entry } else { entry };
                push_node(&mut words, first + index, &node, child, (above_leaves == 0, is_leftmost));
            }
            first = next;
        }
        Tree { words, height }
    }
}

/// Appends a node to `words`. In the leftmost node of a level above the leaves, the first key is 0,
/// so that a search for any key finds a child.
fn push_node(
    words: &mut Vec<u32>,
    number: u32,
    entries: &[(u32, u32)],
    child: impl Fn(u32) -> u32,
    (is_leaf, is_leftmost): (bool, bool),
) {
    let spare = ORDER as usize + 1 - entries.len();
    words.push(number);
    words.extend(entries.iter().map(|&(_, entry)| child(entry)));
    words.extend(core::iter::repeat_n(0, spare));
    let first_key = words.len();
    words.extend(entries.iter().map(|&(key, _)| key));
    words.extend(core::iter::repeat_n(NO_KEY, spare));
    if is_leftmost && !is_leaf {
        words[first_key] = 0;
    }
    words.extend([u32::from(is_leaf), entries.len() as u32]);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The record of a key, found by a walk from the root. `None` if the tree does not contain the
    /// key.
    fn find(tree: &Tree, key: u32) -> Option<u32> {
        let mut node = 0;
        for _ in 0..tree.height {
            let words = &tree.words[(node * NODE_WORDS) as usize..];
            let keys = &words[KEYS as usize..][..ORDER as usize];
            let child = keys.iter().rposition(|&k| k <= key)?;
            node = words[CHILDREN as usize + child];
        }
        let words = &tree.words[(node * NODE_WORDS) as usize..][..NODE_WORDS as usize];
        assert_eq!((words[0], words[NODE_WORDS as usize - 2]), (node, 1));
        let at = words[KEYS as usize..][..ORDER as usize].iter().position(|&k| k == key)?;
        Some(words[CHILDREN as usize + at])
    }

    #[test]
    fn each_key_leads_to_its_record_and_no_other_key_does() {
        for count in [1, 256, 257, 70_000] {
            let tree = Tree::new(count, |record| 2 * record + 5);
            for record in [0, count / 3, count - 1] {
                assert_eq!(find(&tree, 2 * record + 5), Some(record));
                assert_eq!(find(&tree, 2 * record + 6), None);
            }
            assert_eq!(find(&tree, 1), None);
        }
    }
}
