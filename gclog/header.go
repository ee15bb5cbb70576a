package gclog

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gcrun/gcrun/coreform"
	"github.com/gcrun/gcrun/effects/guest"
	"github.com/gcrun/gcrun/internal/digest"
)

// Version is the version of the native format this package writes, and the only
// one it reads. A development version is refused by every later one.
const Version = "4-dev"

// formatNumber is the version as it enters the header leaf.
const formatNumber = 4

// knownFeatures are the required feature bits this reader understands.
const knownFeatures = 0

// SyncGrade says when what is written becomes durable. (spec LOG-SYNC-1)
type SyncGrade uint8

// The grades. The zero value is the default.
const (
	SyncCommit SyncGrade = iota // before acts that must not be repeated, at commit frames, at the end
	SyncNone                    // never
	SyncAlways                  // every intent and entry
)

// String returns the name the policy and the flags use.
func (g SyncGrade) String() string {
	switch g {
	case SyncNone:
		return "none"
	case SyncAlways:
		return "always"
	}
	return "commit"
}

// ParseSyncGrade reads what String writes.
func ParseSyncGrade(s string) (SyncGrade, bool) {
	for _, g := range [...]SyncGrade{SyncCommit, SyncNone, SyncAlways} {
		if g.String() == s {
			return g, true
		}
	}
	return 0, false
}

// Header says what a log is of. (spec LOG-HEADER-1)
type Header struct {
	// Version and Features are set by the writer.
	Version  string
	Features uint64

	Kind    guest.ProgramKind
	Program digest.Digest // module hash or package digest
	Name    string        // display name: a base name, never a path
	Entry   string        // entry function of a package, "" for a module

	LanguageProfile  string // "gcrun/language/1"
	StateHashProfile string // "gcrun/state-hash/0"
	UnicodeProfile   string // "unicode/17"

	// Limits are the effective limits that can influence the outcome, from flags
	// and [runtime], defaults filled in, unlimited ones absent. Names have "_";
	// "max_wall_ms" must not be among them.
	Limits map[string]int64

	// PolicyDigest is the digest of the policy term that the log embeds.
	PolicyDigest digest.Digest

	// ForkOf is the root of the log this one was forked from, or nil.
	ForkOf *digest.Digest

	// Sources and Policy (a term) are what the log embeds. They are given to
	// [NewWriter]; a header that was read does not have them, see [Log.Sources]
	// and [Log.Policy].
	Sources []guest.Source
	Policy  coreform.Value

	Sync SyncGrade // information; the writer sets it
	Tool string    // information: the program that wrote the log, without version
}

// HeaderOf returns the header of a run of a program. Limits are those of the
// program; the caller adds those of the policy to a copy.
func HeaderOf(info guest.Info) Header {
	return Header{
		Kind: info.Kind, Program: info.Hash, Name: info.Name, Entry: info.Entry,
		LanguageProfile:  info.LanguageProfile,
		StateHashProfile: "gcrun/state-hash/" + strconv.Itoa(info.StateHashProfile),
		Limits:           info.Limits,
		Sources:          info.Sources,
	}
}

const (
	maxName   = 4 << 10 // bytes of a short text in header or end frame
	maxLimits = 256     // number of limits
)

// check refuses a header that must not, or cannot, be written.
func (h *Header) check() error {
	switch {
	case h.Kind != guest.KindModule && h.Kind != guest.KindPackage:
		return unrecordable("the program kind %q", h.Kind)
	case strings.ContainsAny(h.Name, `/\`):
		return unrecordable("the display name %q, which is a path,", h.Name)
	case len(h.Limits) > maxLimits:
		return unrecordable("a header with %d limits", len(h.Limits))
	}
	for _, s := range []string{h.Name, h.Entry, h.LanguageProfile, h.StateHashProfile, h.UnicodeProfile, h.Tool} {
		if len(s) > maxName {
			return unrecordable("a header text of %d bytes", len(s))
		}
	}
	for k := range h.Limits {
		if k == "max_wall_ms" || k == "" || len(k) > maxName {
			return unrecordable("the limit %q", k)
		}
	}
	return nil
}

// limitNames returns the names in the order of core-deterministic CBOR: by the
// bytes of their encoding, so shorter ones first.
func (h *Header) limitNames() []string {
	names := make([]string, 0, len(h.Limits))
	for k := range h.Limits {
		names = append(names, k)
	}
	slices.SortFunc(names, compareKeys)
	return names
}

func compareKeys(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

func (h *Header) appendLimits(b []byte) []byte {
	b = appendHead(b, majMap, uint64(len(h.Limits)))
	for _, k := range h.limitNames() {
		b = appendInt(appendText(b, k), h.Limits[k])
	}
	return b
}

func takeLimits(c *cursor) map[string]int64 {
	n := c.want(majMap, "a map of limits")
	if n > maxLimits {
		c.fail("%d limits", n)
		return nil
	}
	out := map[string]int64{}
	last := ""
	for range n {
		k := c.text()
		v := c.int64()
		if c.err == nil && (k == "" || compareKeys(last, k) >= 0) {
			c.fail("the names of limits are not in order")
		}
		if c.err != nil {
			return nil
		}
		out[k], last = v, k
	}
	return out
}

const headerItems = 19

// append appends the body of the header frame. Version and features come first
// in every version, so that any reader can name a version it does not know.
func (h *Header) append(b []byte, program, policy Ref) []byte {
	b = appendUint(appendHead(b, majArray, headerItems), uint64(kindHeader))
	b = appendUint(appendText(b, h.Version), h.Features)
	b = appendDigest(appendText(b, string(h.Kind)), h.Program)
	b = appendOptText(appendText(b, h.Name), h.Entry)
	b = appendText(appendText(appendText(b, h.LanguageProfile), h.StateHashProfile), h.UnicodeProfile)
	b = h.appendLimits(b)
	b = appendOptDigest(appendDigest(b, h.PolicyDigest), h.ForkOf)
	b = appendText(appendText(b, h.Sync.String()), h.Tool)
	for _, r := range [...]Ref{program, policy} {
		b = appendUint(appendDigest(b, r.Digest), uint64(r.Size))
	}
	return b
}

// takeHeader reads the body of a header frame. The error is a *FormatError,
// which wraps ErrVersion when the version or a required feature is not known.
func takeHeader(body []byte) (h Header, program, policy Ref, err error) {
	fail := func(state error, reason string) (Header, Ref, Ref, error) {
		return h, program, policy, &FormatError{Err: state, Reason: reason}
	}
	c := &cursor{b: body}
	n := c.want(majArray, "an array")
	c.uint()
	h.Version = c.text()
	h.Features = c.uint()
	switch {
	case c.err != nil:
		return fail(ErrDamaged, "header: "+c.err.Error())
	case h.Version != Version:
		return h, program, policy, newerVersion(fmt.Sprintf("the log has format version %q, this reader knows %q", h.Version, Version))
	case h.Features&^knownFeatures != 0:
		return h, program, policy, newerVersion(fmt.Sprintf("the log requires features %#x, this reader knows %#x", h.Features, knownFeatures))
	case n != headerItems:
		return fail(ErrDamaged, fmt.Sprintf("header: %d items where %d are due", n, headerItems))
	}
	h.Kind = guest.ProgramKind(c.text())
	h.Program = c.digest()
	h.Name = c.text()
	h.Entry = c.optText()
	h.LanguageProfile, h.StateHashProfile, h.UnicodeProfile = c.text(), c.text(), c.text()
	h.Limits = takeLimits(c)
	h.PolicyDigest = c.digest()
	h.ForkOf = c.optDigest()
	grade, ok := ParseSyncGrade(c.text())
	if !ok {
		c.fail("an unknown sync grade")
	}
	h.Sync = grade
	h.Tool = c.text()
	program, policy = takeBlobName(c, FormBytes), takeBlobName(c, FormTerm)
	if err := c.done(); err != nil {
		return fail(ErrDamaged, "header: "+err.Error())
	}
	if err := h.check(); err != nil {
		return fail(ErrDamaged, "header: "+err.Error())
	}
	return h, program, policy, nil
}

func takeBlobName(c *cursor, form Form) Ref {
	d := c.digest()
	return Ref{form, d, int64(c.uintMax(maxFile, "the size of a blob"))}
}

// leaf appends the header leaf. (spec LOG-ID-2)
func (h *Header) leaf(b []byte) []byte {
	b = appendUint(appendUint(appendHead(b, majArray, 9), 0), formatNumber)
	b = appendDigest(appendText(b, string(h.Kind)), h.Program)
	b = appendText(appendText(b, h.LanguageProfile), h.StateHashProfile)
	b = h.appendLimits(b)
	return appendOptDigest(appendDigest(b, h.PolicyDigest), h.ForkOf)
}

// sourcesTerm is the content of the program blob, as the encoding of a term:
// [[package path source] … entry], with nil for an absent package or entry.
func sourcesTerm(sources []guest.Source, entry string) coreform.Value {
	items := make([]coreform.Value, 0, len(sources)+1)
	for _, s := range sources {
		items = append(items, coreform.Vec(optStr(s.Package), coreform.Str(s.Path), coreform.BytesOf(s.Bytes)))
	}
	return coreform.Vec(append(items, optStr(entry))...)
}

func optStr(s string) coreform.Value {
	if s == "" {
		return coreform.Value{}
	}
	return coreform.Str(s)
}

// sourcesOf reads what sourcesTerm makes.
func sourcesOf(v coreform.Value) ([]guest.Source, bool) {
	vec, ok := v.AsVec()
	if !ok || vec.Len() == 0 {
		return nil, false
	}
	var out []guest.Source
	for _, item := range vec.Slice()[:vec.Len()-1] {
		triple, ok := item.AsVec()
		if !ok || triple.Len() != 3 {
			return nil, false
		}
		var s guest.Source
		if p, ok := triple.At(0).AsStr(); ok {
			s.Package = p
		}
		path, isStr := triple.At(1).AsStr()
		data, isBytes := triple.At(2).AsBytes()
		if !isStr || !isBytes {
			return nil, false
		}
		s.Path = path
		s.Bytes = data.MustLoad() // in memory: it was decoded from there
		out = append(out, s)
	}
	return out, true
}
