// Package args answers sys/args::list: the arguments a person gave the program
// after "--" on the command line, in order.
//
// New takes the arguments as a value and refuses those a program could not hold,
// before the run begins; the Handler then only returns them. Nothing of the
// process (its name, its own flags, its environment) is in the answer.
package args

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects"
	"github.com/gcrun/gcrun/effects/guest"
)

const opList = "sys/args::list"

// Handler answers sys/args::list. It is immutable and safe for concurrent use.
type Handler struct{ list coreform.Value }

// ArgumentError says that an argument cannot be given to a program.
type ArgumentError struct {
	Index int // counted from 1 after "--"
}

// Code returns "core/cli/argument".
func (e *ArgumentError) Code() string { return "core/cli/argument" }

// Hint says what to do about it.
func (e *ArgumentError) Hint() string { return "pass its bytes in a file the program may read" }

func (e *ArgumentError) Error() string {
	return fmt.Sprintf("argument %d after -- is not valid UTF-8", e.Index)
}

// New returns a handler that answers with list, which it copies. An argument
// that is not valid UTF-8 is an *[ArgumentError].
func New(list []string) (*Handler, error) {
	values := make([]coreform.Value, len(list))
	for i, arg := range list {
		if !utf8.ValidString(arg) {
			return nil, &ArgumentError{Index: i + 1}
		}
		values[i] = coreform.Str(strings.Clone(arg))
	}
	return &Handler{list: coreform.Vec(values...)}, nil
}

// Ops returns the names of the ops the handler answers, sorted.
func (*Handler) Ops() []string { return []string{opList} }

// Handle implements [effects.Handler]: a vector of strings, empty when there
// are no arguments. Another op is an error.
func (h *Handler) Handle(_ context.Context, call effects.Call) (guest.Response, error) {
	if call.Op != opList {
		return guest.Response{}, fmt.Errorf("handler for arguments was asked for %s", call.Op)
	}
	return effects.OK(h.list), nil
}
