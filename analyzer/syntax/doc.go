// Package syntax turns Python text into a flat immutable tree. It is the only
// package that knows tree-sitter.
//
// A tree is one slice of nodes without pointers, in source order: children
// follow their parent, a subtree is a run of the slice. C fills it in one pass
// over tree-sitter's tree, which is freed at once, so nothing in a Tree refers to
// memory that Go does not manage, and goroutines share it freely. Parsing this
// way takes little longer than tree-sitter alone (BenchmarkParse tells how
// little); walking its nodes from Go would take twice as long.
//
// Kinds and roles carry the names of the grammar, resolved at the start, since
// their numbers change with every version of it. The dumps in testdata show what
// the grammar makes of each construct.
//
// # Half-typed code
//
// In an editor most texts are broken in some place. tree-sitter always gives a
// tree, but an error may take the code around it along: an open bracket swallows
// the functions below, and two lines are read as one statement without any error.
// Parse makes up for both: see repair and markJoined. What comes out is a tree in
// which errors are as small as a line, everything else is as if they were not
// there, and Tree.DamagedSpans says where less is known than usual.
//
// # What is not parsed
//
// Text beyond the limits, in another encoding, or binary gives one of the errors
// of this package instead of a tree, each a line that people can read.
package syntax
