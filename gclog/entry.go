package gclog

import (
	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects/guest"
	"github.com/gcrun/gcrun/internal/digest"
)

// Decision is what the policy said.
type Decision uint8

// The decisions.
const (
	Deny Decision = iota
	Allow
)

// String returns "allow" or "deny".
func (d Decision) String() string {
	if d == Allow {
		return "allow"
	}
	return "deny"
}

// Entry is one answered request. Entries are numbered in the order of
// completion. (spec LOG-ENTRY-1)
type Entry struct {
	I    uint64       // position; the writer sets it
	Task guest.TaskID // the asking task
	R    uint64       // request number

	Op          string // a qualified symbol, at most MaxOp bytes
	Payload     Datum
	PayloadHash digest.Digest // term hash of the payload
	ContHash    digest.Digest // state hash of the asking task's continuation

	Decision Decision
	Reason   string         // reason code of a denial, "" on allow
	Cap      coreform.Value // the grant, without paths; nil on deny

	RespKind   guest.RespKind
	Resp       Datum         // for an error, the payload of the sealed error
	RespDigest digest.Digest // state hash of Resp

	Span guest.Span // information
}

// MaxOp is the longest name of an operation in bytes.
const MaxOp = 64 << 10

const (
	maxCap    = 64 << 10 // bytes of an encoded grant
	maxReason = 1 << 10
	maxInline = 256 << 10 // the largest inline limit
)

// ReqHash returns the request hash: BLAKE3("GCv0.2\0effect-req\0" ‖ op ‖ "\0" ‖
// payload hash ‖ continuation hash). It is not stored. (spec LOG-ENTRY-3)
func (e *Entry) ReqHash() digest.Digest { return ReqHash(e.Op, e.PayloadHash, e.ContHash) }

// ReqHash returns the request hash of a request.
func ReqHash(op string, payload, cont digest.Digest) digest.Digest {
	b := make([]byte, 0, 128)
	b = append(append(b, "GCv0.2\x00effect-req\x00"...), op...)
	b = append(append(append(b, 0), payload[:]...), cont[:]...)
	return digest.Sum(b)
}

const entryItems = 17

// append appends the body of the entry frame. payload, grant and resp are the
// encodings of the three terms or references.
func (e *Entry) append(b, payload, grant, resp []byte) []byte {
	b = appendUint(appendHead(b, majArray, entryItems), uint64(kindEntry))
	b = appendUint(appendUint(appendUint(b, e.I), uint64(e.Task)), e.R)
	b = append(appendText(b, e.Op), payload...)
	b = appendDigest(appendDigest(b, e.PayloadHash), e.ContHash)
	b = appendOptText(appendUint(b, uint64(e.Decision)), e.Reason)
	b = appendBytes(b, grant)
	b = append(appendUint(b, uint64(e.RespKind)), resp...)
	b = appendDigest(b, e.RespDigest)
	return appendSpan(b, e.Span)
}

// appendSpan appends three items: file or null, start, end.
func appendSpan(b []byte, s guest.Span) []byte {
	if !s.Known() {
		return append(b, cborNull, 0, 0)
	}
	return appendInt(appendInt(appendText(b, s.File), int64(s.Off)), int64(s.End))
}

func takeSpan(c *cursor) guest.Span {
	s := guest.Span{File: c.optText()}
	s.Off = int(c.uintMax(maxFile, "a source position"))
	s.End = int(c.uintMax(maxFile, "a source position"))
	if !s.Known() && (s.Off != 0 || s.End != 0) {
		c.fail("a source position without a file")
	}
	return s
}

func (e *Entry) check() error {
	switch {
	case e.Op == "" || len(e.Op) > MaxOp:
		return unrecordable("an operation name of %d bytes", len(e.Op))
	case len(e.Reason) > maxReason:
		return unrecordable("a reason of %d bytes", len(e.Reason))
	case e.Decision > Allow || e.RespKind > guest.RespError:
		return unrecordable("an entry with an unknown decision or response kind")
	case e.Decision == Allow && e.Reason != "":
		return unrecordable("an allowed request with a reason code")
	case e.Span.Known() && (e.Span.Off < 0 || e.Span.End < 0 || len(e.Span.File) > maxName):
		return unrecordable("a source position that is none")
	}
	return nil
}

// leaf appends the entry leaf: digests only, so that it does not matter how
// payload and response are kept. (spec LOG-ID-3)
func (e *Entry) leaf(b []byte, grant digest.Digest) []byte {
	b = appendUint(appendHead(b, majArray, 12), 1)
	b = appendUint(appendUint(appendUint(b, e.I), uint64(e.Task)), e.R)
	b = appendDigest(appendDigest(appendText(b, e.Op), e.PayloadHash), e.ContHash)
	b = appendOptText(appendText(b, e.Decision.String()), e.Reason)
	b = appendDigest(b, grant)
	return appendDigest(appendText(b, e.RespKind.String()), e.RespDigest)
}

// entryDecoder decodes entry frames. It remembers grants and op names, which
// recur, by their bytes.
type entryDecoder struct {
	terms  termDecoder
	grants map[string]grant
	ops    map[string]string
}

// grant is a decoded cap and its term hash, which enters the leaf.
type grant struct {
	value coreform.Value
	hash  digest.Digest
}

// maxRemembered bounds the caches of grants and op names; they start over.
const maxRemembered = 256

// entry decodes one entry, whose blobs come from src. The second result is the
// term hash of its grant.
func (d *entryDecoder) entry(f *frame, src blobSource, e *Entry) (digest.Digest, error) {
	c := f.cursor(entryItems)
	e.I = c.uint()
	e.Task = guest.TaskID(c.uint())
	e.R = c.uint()
	e.Op = d.op(c)
	e.Payload = d.terms.datum(c, src)
	e.PayloadHash = c.digest()
	e.ContHash = c.digest()
	e.Decision = Decision(c.uintMax(uint64(Allow), "a decision"))
	e.Reason = c.optText()
	g := d.grant(c)
	e.Cap = g.value
	e.RespKind = guest.RespKind(c.uintMax(uint64(guest.RespError), "a response kind"))
	e.Resp = d.terms.datum(c, src)
	e.RespDigest = c.digest()
	e.Span = takeSpan(c)
	if err := c.done(); err != nil {
		return g.hash, err
	}
	return g.hash, e.check()
}

func (d *entryDecoder) op(c *cursor) string {
	p := c.textBytes()
	if s, ok := d.ops[string(p)]; ok {
		return s
	}
	if d.ops == nil || len(d.ops) >= maxRemembered {
		d.ops = map[string]string{}
	}
	s := string(p)
	d.ops[s] = s
	return s
}

func (d *entryDecoder) grant(c *cursor) grant {
	p := c.bytes()
	if c.err != nil {
		return grant{}
	}
	if g, ok := d.grants[string(p)]; ok {
		return g
	}
	if len(p) > maxCap {
		c.fail("a grant of %d bytes", len(p))
		return grant{}
	}
	inner := &cursor{b: p}
	g := grant{value: d.terms.term(inner)}
	if err := inner.done(); err != nil {
		c.fail("grant: %v", err)
		return grant{}
	}
	h, err := coreform.TermHash(g.value)
	if err != nil {
		c.fail("grant: %v", err)
		return grant{}
	}
	g.hash = h
	if d.grants == nil || len(d.grants) >= maxRemembered {
		d.grants = map[string]grant{}
	}
	d.grants[string(p)] = g
	return g
}

// Intent says that a request is about to be carried out. It stands before the
// act, so that an act whose entry is missing is known to be in doubt. (spec
// LOG-INTENT-1)
type Intent struct {
	Task    guest.TaskID
	R       uint64
	Op      string
	ReqHash digest.Digest

	// Once: the act must not be repeated unasked. In grades commit and always
	// the intent is durable when [Writer.Intent] returns.
	Once bool
}

const intentItems = 6

func (in *Intent) append(b []byte) []byte {
	b = appendUint(appendHead(b, majArray, intentItems), uint64(kindIntent))
	b = appendText(appendUint(appendUint(b, uint64(in.Task)), in.R), in.Op)
	once := uint64(0)
	if in.Once {
		once = 1
	}
	return appendUint(appendDigest(b, in.ReqHash), once)
}

func (d *entryDecoder) intent(f *frame) (Intent, error) {
	c := f.cursor(intentItems)
	in := Intent{Task: guest.TaskID(c.uint()), R: c.uint(), Op: d.op(c), ReqHash: c.digest()}
	in.Once = c.uintMax(1, "a class") == 1
	if len(in.Op) > MaxOp || in.Op == "" {
		c.fail("an operation name of %d bytes", len(in.Op))
	}
	return in, c.done()
}
