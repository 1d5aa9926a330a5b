//! The PROJECT file and where things live in a project. The only room that reads the disk.

mod tree;

pub use tree::{ReadError, Tree};
