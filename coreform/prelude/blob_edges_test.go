package prelude_test

import (
	"context"
	"testing"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/coreform/kernel"
	"github.com/gcrun/gcrun/effects/guest"
	"github.com/gcrun/gcrun/internal/digest"
)

// honestBlob has the digest of its content, which a counting one has not.
type honestBlob struct{ *countingBlob }

func (b honestBlob) Digest() digest.Digest { return digest.Sum(b.data) }

// answeredWith evaluates an expression of b, the answer to a request.
func answeredWith(t *testing.T, b coreform.Value, expr string) (string, int64) {
	t.Helper()
	p, err := loadWith("(core/effect::perform 'a/b nil (fn (b) "+expr+"))", kernel.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = p.Step(context.Background(), 0, nil); err != nil {
		t.Fatal(err)
	}
	s, err := p.Step(context.Background(), 0, &guest.Response{Value: b})
	if err != nil {
		return failureText(err), p.Usage().Steps
	}
	if s.Request != nil {
		return "asks " + show(s.Request.Payload) + coreform.StateHash(s.Request.Payload).String(), p.Usage().Steps
	}
	return show(s.Done.Value) + s.Done.Digest.String(), p.Usage().Steps
}

// At every edge bytes in a blob are as bytes in memory, in value, error and
// steps, in whatever place they stand.
//
// spec: LANG-BLOB-1
func TestBlobsAtTheEdges(t *testing.T) {
	exprs := []string{
		"b", "(core/bytes::len b)", "(core/bytes::get b 0)", "(core/bytes::get b -1)", "(core/bytes::get b (core/bytes::len b))",
		"(core/bytes::get b (core/int::sub (core/bytes::len b) 1))", "(core/bytes::get b 18446744073709551616)", "(core/bytes::get b b)",
		"(core/bytes::slice b 0 0)", "(core/bytes::slice b 0 (core/bytes::len b))", "(core/bytes::slice b (core/bytes::len b) 0)",
		"(core/bytes::slice b (core/bytes::len b) 1)", "(core/bytes::slice b 1 9223372036854775807)", "(core/bytes::slice b 0 -1)",
		"(core/bytes::slice (core/bytes::slice b 1 2) 1 1)", "(core/bytes::slice (core/bytes::slice b 1 2) 1 2)",
		"(core/bytes::concat b b)", `(core/bytes::concat b"" b)`, `(core/bytes::concat b b"x")`, `(core/bytes::concat b "x")`,
		"(core/bytes::join (core/vec::push (core/vec::push [] b) b))", `(core/bytes::join (core/vec::push [b"a"] b))`, "(core/bytes::join b)",
		"(core/bytes::to-hex b)", "(core/bytes::from-hex b)", "(core/str::from-utf8 b)", "(core/str::len b)", "(core/str::concat b b)",
		"(core/crypto::blake3 b)", "(core/coreform::escape-bytes b)", "(core/coreform::escape-str b)", "(core/coreform::parse-term b)",
		"(core/coreform::parse-module b)", "(core/coreform::fmt-module b)", "(core/coreform::hash-module-src b)", "(core/coreform::print-term b)",
		"(core/coreform::hash-term b)", "(core/coreform::print-module (core/vec::push [] b))", "(core/coreform::canonicalize-module (core/vec::push [] b))",
		"(core/data::tag b)", "(core/eq? b b)", `(core/eq? b b"abc")`, `(core/eq? b"abc" b)`, `(core/eq? b b"abd")`, `(core/eq? b b"")`, `(core/eq? b "abc")`,
		"(core/map::put {} b 1)", "(core/map::get {b\"abc\" 1} b)", "(core/map::get (core/map::put {} b 1) b\"abc\")", "(core/map::entries (core/map::put {b\"abb\" 1 b\"abd\" 2} b 3))",
		"(core/map::from-entries (core/vec::push [[b\"abc\" 1]] (core/vec::push (core/vec::push [] b) 2)))", "(core/pair::cons b b)",
		"(core/msg::make 'o b)", "(core/contract::dispatch core/contract::genesis (core/msg::make 'o b))", "(core/contract::make (fn (m) b) nil b)",
		"(core/effect::ask 'a/c {:data b})", "(core/effect::perform 'a/c b (fn (r) b))", "(seal b (seal))", "(core/error::make b b b)", "(core/protocol::error b)",
		"(core/int::add b 1)", "(core/sym::from-str b)", "(core/str::repeat \"a\" b)", "(core/list::len b)", "(core/vec::get b 0)", "(if b 1 2)",
	}
	for _, data := range []string{"", "abc", "\xff\x00\x80", "(a b)", "\xe2\x82\xac{1 2}"} {
		for _, expr := range exprs {
			memory, steps := answeredWith(t, coreform.BytesOf([]byte(data)), expr)
			blob, blobSteps := answeredWith(t, coreform.BlobBytes(honestBlob{&countingBlob{data: []byte(data), size: int64(len(data))}}), expr)
			if blob != memory || blobSteps != steps {
				t.Errorf("%s of %q: %s in %d steps, in memory %s in %d", expr, data, blob, blobSteps, memory, steps)
			}
		}
	}
}
