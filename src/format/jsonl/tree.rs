//! The wanted fields as a tree of keys: which members of which objects are worth looking at.
//!
//! Nodes are numbered from the top down, each followed by all that is below it, so that forgetting what was found
//! below a key is clearing a range. Must not know how JSON is written.

use crate::schema::FieldPath;
use std::collections::HashMap;
use std::ops::Range;

/// The index of a node, which is also that of its cell.
pub(super) type NodeId = usize;

/// The record itself.
pub(super) const ROOT: NodeId = 0;

/// More children than this are found by their hash.
const MANY: usize = 16;

/// All wanted fields.
#[derive(Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    slots: Vec<NodeId>,
}

/// A key on the way to a wanted field, or at its end.
#[derive(Debug)]
struct Node {
    key: Vec<u8>,
    children: Vec<NodeId>,
    /// The same by their keys, where there are many.
    index: Option<HashMap<Vec<u8>, NodeId>>,
    wanted: bool,
    /// Behind the last node below this one.
    end: NodeId,
}

impl Tree {
    /// The tree of these paths, which may repeat.
    pub(super) fn new<'a>(paths: impl Iterator<Item = &'a FieldPath>) -> Self {
        let paths: Vec<&[String]> = paths.map(FieldPath::parts).collect();
        let mut tree = Tree { nodes: Vec::new(), slots: vec![ROOT; paths.len()] };
        let all: Vec<usize> = (0..paths.len()).collect();
        tree.add(&[], &paths, &all, 0);
        tree
    }

    /// Adds the node `key`, at which the `members` among `paths` have `depth` parts behind them.
    fn add(&mut self, key: &[u8], paths: &[&[String]], members: &[usize], depth: usize) -> NodeId {
        let id = self.nodes.len();
        self.nodes.push(Node { key: key.to_vec(), children: Vec::new(), index: None, wanted: false, end: id + 1 });
        let mut groups: Vec<(&str, Vec<usize>)> = Vec::new();
        let mut group_of: HashMap<&str, usize> = HashMap::new();
        for &member in members {
            match paths[member].get(depth) {
                None => {
                    self.nodes[id].wanted = true;
                    self.slots[member] = id;
                }
                Some(part) => {
                    let group = *group_of.entry(part).or_insert(groups.len());
                    match groups.get_mut(group) {
                        Some((_, group)) => group.push(member),
                        None => groups.push((part, vec![member])),
                    }
                }
            }
        }
        let children = groups.iter().map(|(part, group)| self.add(part.as_bytes(), paths, group, depth + 1));
        let children: Vec<NodeId> = children.collect();
        self.nodes[id].index = (children.len() > MANY)
            .then(|| children.iter().map(|&child| (self.nodes[child].key.clone(), child)).collect());
        self.nodes[id].children = children;
        self.nodes[id].end = self.nodes.len();
        id
    }

    /// How many nodes there are.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The node of the `index`th path.
    #[inline]
    pub(super) fn slot(&self, index: usize) -> NodeId {
        self.slots[index]
    }

    /// The member `key` of the object at `node`, if it is on the way to a wanted field.
    pub(super) fn child(&self, node: NodeId, key: &[u8]) -> Option<NodeId> {
        let parent = &self.nodes[node];
        match &parent.index {
            Some(index) => index.get(key).copied(),
            None => parent.children.iter().copied().find(|&child| self.nodes[child].key == key),
        }
    }

    /// Whether the value at `node` itself is wanted.
    #[inline]
    pub(super) fn is_wanted(&self, node: NodeId) -> bool {
        self.nodes[node].wanted
    }

    /// Whether fields below `node` are wanted.
    #[inline]
    pub(super) fn has_children(&self, node: NodeId) -> bool {
        self.nodes[node].end > node + 1
    }

    /// A node and all below it.
    #[inline]
    pub(super) fn below(&self, node: NodeId) -> Range<NodeId> {
        node..self.nodes[node].end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_share_nodes_and_may_end_inside_others() {
        let paths: Vec<FieldPath> =
            ["a.b", "c", "a", "a.b", "a.d"].iter().filter_map(|p| FieldPath::parse(p)).collect();
        let tree = Tree::new(paths.iter());
        let a = tree.child(ROOT, b"a").unwrap();
        let b = tree.child(a, b"b").unwrap();
        assert_eq!((tree.slot(0), tree.slot(2), tree.slot(3)), (b, a, b));
        assert!(tree.is_wanted(a) && tree.has_children(a) && !tree.has_children(b) && !tree.is_wanted(ROOT));
        assert_eq!(tree.below(a), a..a + 3);
        assert_eq!(tree.child(ROOT, b"b"), None);
        assert_eq!(tree.len(), 5);
    }

    #[test]
    fn many_children_are_found_as_few_are() {
        let paths: Vec<FieldPath> = (0..2 * MANY).map(|i| FieldPath::new(vec![format!("f{i}")])).collect();
        let tree = Tree::new(paths.iter().chain(&paths));
        for (index, path) in paths.iter().enumerate() {
            assert_eq!(tree.child(ROOT, path.name().as_bytes()), Some(tree.slot(index)));
            assert_eq!(tree.slot(index), tree.slot(index + paths.len()));
        }
        assert_eq!((tree.child(ROOT, b"f"), tree.len()), (None, 2 * MANY + 1));
    }
}
