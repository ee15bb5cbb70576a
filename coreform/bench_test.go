package coreform_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/gcrun/gcrun/coreform"
)

func ordinarySource(b testing.TB, atLeast int) []byte {
	b.Helper()
	one, err := os.ReadFile("testdata/ordinary.gc")
	if err != nil {
		b.Fatal(err)
	}
	return bytes.Repeat(one, atLeast/len(one)+1)
}

// BenchmarkReadModule reads and canonicalizes ordinary source.
func BenchmarkReadModule(b *testing.B) {
	src := ordinarySource(b, 1<<20)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		nodes, err := coreform.ReadModule(src, coreform.Limits{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := coreform.CanonicalizeModule(nodes, coreform.Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReadOnly is the reader's part of BenchmarkReadModule.
func BenchmarkReadOnly(b *testing.B) {
	src := ordinarySource(b, 1<<20)
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		if _, err := coreform.ReadModule(src, coreform.Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReadTerm reads data without positions.
func BenchmarkReadTerm(b *testing.B) {
	src := append(append([]byte{'['}, ordinarySource(b, 1<<20)...), ']')
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		if _, err := coreform.ReadTerm(src, coreform.Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPrintTerm prints the same as canonical text; the rate is of output.
func BenchmarkPrintTerm(b *testing.B) {
	nodes, err := coreform.ReadModule(ordinarySource(b, 1<<20), coreform.Limits{})
	if err != nil {
		b.Fatal(err)
	}
	forms := coreform.Terms(nodes)
	text, err := coreform.PrintModule(forms, coreform.Limits{})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := coreform.PrintModule(forms, coreform.Limits{}); err != nil {
			b.Fatal(err)
		}
	}
}
