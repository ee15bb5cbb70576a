package kernel_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/gcrun/gcrun/coreform/kernel"
)

// mapWriter draws programs that hand maps around and update them: every version
// that anybody still holds must stay what it was.
type mapWriter struct {
	t     *rapid.T
	names []string // variables that are maps
	fresh int
}

func (w *mapWriter) n(k int) int { return rapid.IntRange(0, k-1).Draw(w.t, "n") }

func (w *mapWriter) variable() string { return w.names[w.n(len(w.names))] }

func (w *mapWriter) within(name string, draw func() string) string {
	w.names = append(w.names, name)
	defer func() { w.names = w.names[:len(w.names)-1] }()
	return draw()
}

// expr draws an expression that is a map, or a pair of maps where hold allows.
func (w *mapWriter) expr(depth int) string {
	if depth == 0 {
		return w.variable()
	}
	sub := func() string { return w.expr(depth - 1) }
	switch w.n(13) {
	case 0, 1, 2:
		return fmt.Sprintf("(prim map/put %s %d %d)", sub(), w.n(12), w.n(5))
	case 3:
		return fmt.Sprintf("(fill %s %d)", sub(), w.n(12))
	case 4:
		return fmt.Sprintf("(prim map/put %s %d %s)", sub(), w.n(12), sub()) // a map in a map
	case 5, 6:
		w.fresh++
		name := fmt.Sprint("v", w.fresh)
		value := sub()
		return w.within(name, func() string { return fmt.Sprintf("(let ((%s %s)) %s)", name, value, w.expr(depth-1)) })
	case 7:
		return fmt.Sprintf("(if (prim int/eq? %d %d) %s %s)", w.n(2), w.n(2), sub(), sub())
	case 8:
		w.fresh++
		name := fmt.Sprint("p", w.fresh)
		body := w.within(name, sub)
		return fmt.Sprintf("((fn (%s) %s) %s)", name, body, sub())
	case 9:
		return fmt.Sprintf("(twice (fn (m) %s) %s)", w.within("m", sub), sub())
	case 11:
		return fmt.Sprintf("(again (prim pair/cons %s %s))", sub(), sub())
	case 10:
		return fmt.Sprintf("(prim pair/cdr (both %s %s))", sub(), sub())
	default:
		return fmt.Sprintf("(keep %s %s)", sub(), sub())
	}
}

// A map that is changed in place because nobody else holds it cannot be told from
// one that is not: in random programs that hold on to versions in variables,
// closures, pairs, maps and partial applications, all versions are what an
// evaluator gives that copies every map.
//
// spec: LANG-VAL-1, LANG-EVAL-1
func TestVersionsOfMapsStayWhatTheyWere(t *testing.T) {
	lib, err := kernel.NewLibrary(kernel.CoreNatives(), nil, nil, oracleLibrary)
	if err != nil {
		t.Fatal(err)
	}
	definitions := oracleDefinitions(t)
	const helpers = `
(def g (prim map/put {} 0 0))
(def fill (fn (m k) (prim map/put (prim map/put m k 7) 3 8)))
(def twice (fn (f m) (f (f m))))
(def both (fn (a b) (prim pair/cons (prim map/put a 1 1) (prim map/put b 2 2))))
(def second (fn (a b) b))
(def again (fn (p) (second (prim map/put (prim pair/cdr p) 5 5) (prim pair/cdr p))))
(def keep (fn (a) (fn (b) (prim map/put b 11 (prim map/get a 3)))))
`
	rapid.Check(t, func(t *rapid.T) {
		w := &mapWriter{t: t, names: []string{"g"}}
		var b strings.Builder
		b.WriteString(helpers)
		list := "nil"
		for i := range rapid.IntRange(1, 5).Draw(t, "definitions") {
			name := fmt.Sprint("d", i)
			fmt.Fprintf(&b, "(def %s %s)\n", name, w.expr(rapid.IntRange(1, 5).Draw(t, "depth")))
			w.names = append(w.names, name)
			list = "(prim pair/cons " + name + " " + list + ")"
		}
		src := b.String() + "(prim pair/cons g " + list + ")"
		want, sure := oracleRun(t, src, definitions)
		if !sure {
			return
		}
		for _, l := range []*kernel.Library{lib, lib.Watched()} {
			if got := machineRun(t, src, l); got != want {
				t.Fatalf("%s\nmachine: %+v\noracle:  %+v", src, got, want)
			}
		}
	})
}
