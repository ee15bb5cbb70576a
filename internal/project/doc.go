// Package project has no code, only tests that hold the project as a whole to
// its own rules:
//
//   - imports_test.go: the import table, which packages exist, on what level, and
//     what each may import;
//   - clauses_test.go: every clause of spec/ is cited by a test or a vector, and
//     no test cites a clause that does not exist;
//   - readme_test.go, docs_test.go: what README and documents show is executed;
//   - examples_test.go, grammar_test.go: examples print and record what they say,
//     and the editors' grammar colours them right;
//   - tree_test.go: the folders at the top, and what no tracked file may contain.
//
// A new package, folder or clause therefore forces an edit here or a test there.
package project
