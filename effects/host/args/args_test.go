package args

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects"
	"github.com/gcrun/gcrun/effects/guest"
	"github.com/gcrun/gcrun/effects/ops"
)

var _ effects.Handler = (*Handler)(nil)

func TestListAnswersTheArgumentsInOrder(t *testing.T) {
	for _, list := range [][]string{nil, {}, {""}, {"b", "a", "--", "é", "a b\n", "\x00"}} {
		given := slices.Clone(list)
		h, err := New(given)
		if err != nil {
			t.Fatal(err)
		}
		for i := range given {
			given[i] = "changed by the caller"
		}
		r, err := h.Handle(context.Background(), effects.Call{Op: "sys/args::list"})
		if err != nil || r.Kind != guest.RespOK {
			t.Fatalf("%q: %v, %v", list, r, err)
		}
		want := make([]coreform.Value, len(list))
		for i, s := range list {
			want[i] = coreform.Str(s)
		}
		if !coreform.Equal(r.Value, coreform.Vec(want...)) {
			t.Errorf("%q is answered otherwise", list)
		}
	}
}

func TestNewRefusesWhatIsNotUTF8(t *testing.T) {
	_, err := New([]string{"fine", "\xff\xfe", "\xff"})
	var bad *ArgumentError
	if !errors.As(err, &bad) || bad.Index != 2 {
		t.Fatalf("error %v", err)
	}
	if got := err.Error(); got != "argument 2 after -- is not valid UTF-8" {
		t.Errorf("message %q", got)
	}
	if bad.Code() == "" || bad.Hint() == "" {
		t.Error("an error without code or next step")
	}
}

func TestOps(t *testing.T) {
	h, err := New(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range h.Ops() {
		op, ok := ops.Lookup(name)
		if !ok || !op.Implemented {
			t.Errorf("%s is not an implemented op of the catalogue", name)
		}
	}
	if _, err := h.Handle(context.Background(), effects.Call{Op: "sys/env::get"}); err == nil {
		t.Error("another op is answered")
	}
}
