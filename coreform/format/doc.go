// Package format lays out CoreForm sources for people. Unlike the canonical
// printer it works on the source as it was written: comments stay, calls keep
// their arguments together, 'x stays 'x, and every atom keeps its spelling.
//
// [Source] is the whole interface. It reads the source with coreform, which
// gives every term its byte range and refuses what is not CoreForm. What lies
// between the ranges is white space and comments. From both it builds, one
// top-level form at a time, a row of items in preorder (build.go, comment.go),
// each with the width it has on one line, and prints them (layout.go, call.go):
// on one line if it fits, else in the way of its kind. Comments behind code are
// put in columns at the end (align.go).
//
// Laws: a formatted text formats to itself; it reads as the same terms, so
// canonical text and module hash stay; every comment stays, in order, with its
// text. Time is proportional to source and result, and the result is bounded by
// the limit on bytes. Recursion is bounded by the limit on depth.
//
// The rules of layout are in spec/fmt.md.
package format
