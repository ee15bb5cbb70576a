package ops

import (
	"slices"
	"strings"
	"sync"

	"github.com/gcrun/gcrun/coreform"
)

// The codes of errors a program can see. Each has one fixed message, so that
// equal causes give equal bytes on every host; facts are in the context.
// (spec/errors.md ERR-1 … 4)
const (
	CodeDenied        = "core/caps/denied"
	CodeUnknownOp     = "core/caps/unknown-op"
	CodeBadPayload    = "core/caps/bad-payload"
	CodeResourceLimit = "core/caps/resource-limit"
	CodeTimeout       = "core/caps/timeout"
	CodePolicyError   = "core/caps/policy-error"

	CodeOutcomeUnknown = "core/effect/outcome-unknown"

	CodePath          = "core/path-error"
	CodePathEncoding  = "core/path-encoding-error"
	CodePathCollision = "core/path-collision-error"
	CodeIO            = "core/io-error"

	CodeType      = "core/type-error"
	CodeNumeric   = "core/numeric-error"
	CodeTextRange = "core/text-range-error"

	CodeDBDamaged   = "core/db/damaged"
	CodeDBBusy      = "core/db/busy"
	CodeDBStatement = "core/db/statement"

	CodeStoreNotFound    = "core/store/not-found"
	CodeStoreCorruption  = "core/store/corruption"
	CodeStoreBadArtifact = "core/store/bad-artifact"
	CodeStoreTooLarge    = "core/store/too-large"

	CodeNetHost     = "core/net/host-refused"
	CodeNetAddress  = "core/net/address-refused"
	CodeNetRedirect = "core/net/redirect-refused"
	CodeNetConnect  = "core/net/connect"
	CodeNetTLS      = "core/net/tls"
	CodeNetProtocol = "core/net/protocol"

	CodeProcessNotFound = "core/process/not-found"
	CodeProcessArgs     = "core/process/args-refused"
	CodeProcessChanged  = "core/process/changed"

	CodeTaskNotFound      = "core/task/not-found"
	CodeTaskChannelClosed = "core/task/channel-closed"
	CodeTaskChannelFull   = "core/task/channel-full"
	CodeTaskBudget        = "core/task/budget-exceeded"
	CodeTaskEval          = "core/task/eval-refused"
	CodeTaskEmptyRace     = "core/task/empty-race"
	CodeTaskBadLimit      = "core/task/bad-limit"
)

// Code describes one error code.
type Code struct {
	Name    string // the stable code
	Message string // its fixed :error/message
	Meaning string // when it is answered, one sentence
	Context string // the keys of its context
}

// codes is sorted by name; a test keeps it so and equal to spec/errors.md.
var codes = []Code{
	{CodeBadPayload, "payload not accepted", "The payload does not have the shape of the op.",
		":expected :key? :op :reason"},
	{CodeDenied, "capability denied", "The policy does not grant the op, or not for this request.", ":op"},
	{CodePolicyError, "policy cannot be applied", "What the policy says about the op cannot be carried out on this host.",
		":op :setting"},
	{CodeResourceLimit, "resource limit exceeded", "The answer or the request is over a limit of the op.",
		":dimension :limit :op :performed"},
	{CodeTimeout, "capability timed out", "The op did not end within its bound.", ":op :timeout-ms"},
	{CodeUnknownOp, "operation has no handler", "The policy grants the op, but this version or host cannot perform it.", ":op"},
	{CodeDBBusy, "database is in use", "Another writer held the database for too long.", ":db :op"},
	{CodeDBDamaged, "database is damaged", "The file is not an intact database.", ":db :op"},
	{CodeDBStatement, "statement not accepted", "The statement is not valid, not allowed, or failed.", ":db :op :reason"},
	{CodeOutcomeUnknown, "outcome of the operation is unknown",
		"The run was cut off while the op was under way and was resumed without doing it again.", ":op"},
	{CodeIO, "input or output failed", "The host could not do it; the kind says why.", ":io-kind :op :path?"},
	{CodeNetAddress, "network address refused", "The name leads to an address the policy does not allow.", ":host :op"},
	{CodeNetConnect, "connection failed", "The host could not be reached or closed the connection.", ":host :op"},
	{CodeNetHost, "network host refused", "The policy does not name the host, port or scheme of the URL.", ":host :op"},
	{CodeNetProtocol, "answer not understood", "The answer is not valid HTTP or its coding is damaged.", ":host :op"},
	{CodeNetRedirect, "redirect refused", "The answer redirects further than the policy allows.", ":host :op"},
	{CodeNetTLS, "secure connection failed", "The certificate is not accepted or TLS could not be agreed on.", ":host :op"},
	{CodeNumeric, "number out of range", "An integer is not usable here, such as a divisor of zero.", ":kind"},
	{CodePathCollision, "names collide", "Two names of the host are one name in normal form C.", ":op :path"},
	{CodePathEncoding, "name cannot be written as a path", "Names of the host are not valid UTF-8.", ":count :op :path"},
	{CodePath, "path refused", "The path is not a portable relative path, or leads where it may not.", ":op :path :reason"},
	{CodeProcessArgs, "program arguments refused", "The policy does not allow these arguments or variables.", ":op :program"},
	{CodeProcessChanged, "program file has changed", "The file does not have the digest the policy names.", ":op :program"},
	{CodeProcessNotFound, "program not available", "The policy names no such program, or its file cannot be run.", ":op :program"},
	{CodeStoreBadArtifact, "artifact is not a term", "What was kept is neither bytes nor canonical text.", ":hash :op"},
	{CodeStoreCorruption, "store is damaged", "What was kept does not have its hash any more.", ":hash :op"},
	{CodeStoreNotFound, "artifact not found", "The store does not hold it.", ":hash :op"},
	{CodeStoreTooLarge, "artifact too large", "The artifact is over the limit of the store.", ":limit :op"},
	{CodeTaskBadLimit, "concurrency limit not accepted", "The limit is not an integer of at least 1.", ":op?"},
	{CodeTaskBudget, "task limit exceeded", "The policy allows no more tasks or channels.", ":limit :op"},
	{CodeTaskChannelClosed, "channel is closed", "A message was sent to a closed channel.", ":channel-id :op"},
	{CodeTaskChannelFull, "channel is full", "The channel holds as many messages as it may.", ":channel-id :op"},
	{CodeTaskEmptyRace, "race without tasks", "There is no task to wait for.", ":op?"},
	{CodeTaskEval, "evaluation of data refused", "The policy does not allow tasks from received data.", ":op"},
	{CodeTaskNotFound, "task or channel not found", "There is no task or channel of that id.", ":id :op"},
	{CodeTextRange, "text position out of range", "A position or length lies outside the text.", ":kind"},
	{CodeType, "value of the wrong type", "A primitive or library function got a value it does not take.", ":kind"},
}

// Codes returns every code, sorted by name, as a new slice.
func Codes() []Code {
	out := slices.Clone(codes)
	slices.SortFunc(out, func(a, b Code) int { return strings.Compare(a.Name, b.Name) })
	return out
}

var codeByName = sync.OnceValue(func() map[string]*Code {
	m := make(map[string]*Code, len(codes))
	for i := range codes {
		m[codes[i].Name] = &codes[i]
	}
	return m
})

// LookupCode returns the description of a code.
func LookupCode(name string) (Code, bool) {
	if c, ok := codeByName()[name]; ok {
		return *c, true
	}
	return Code{}, false
}

// ErrorPayload returns the term that is sealed with ERROR when a program sees
// an error: {:error/code :error/context :error/message :error/op}, the message
// being the fixed one of the code. :error/op is absent when op is "", as for
// errors the language itself makes. context must be a term. A code that is not
// in the table is a bug of gcrun and panics. (spec/errors.md ERR-1)
func ErrorPayload(code, op string, context coreform.Value) coreform.Value {
	c, ok := codeByName()[code]
	if !ok {
		panic("gcrun bug: error code not in the table: " + code)
	}
	entries := []coreform.Entry{
		{Key: coreform.Sym(":error/code"), Value: coreform.Str(code)},
		{Key: coreform.Sym(":error/context"), Value: context},
		{Key: coreform.Sym(":error/message"), Value: coreform.Str(c.Message)},
	}
	if op != "" {
		entries = append(entries, coreform.Entry{Key: coreform.Sym(":error/op"), Value: coreform.Sym(op)})
	}
	return coreform.MapOf(entries...)
}

// ErrorCode returns the code of a term that has the shape ErrorPayload gives.
func ErrorCode(payload coreform.Value) (string, bool) {
	m, ok := payload.AsMap()
	if !ok {
		return "", false
	}
	v, ok := m.Get(coreform.Sym(":error/code"))
	if !ok {
		return "", false
	}
	return v.AsStr()
}

// opContext returns the context {:op op …}.
func opContext(op string, more ...coreform.Entry) coreform.Value {
	return coreform.MapOf(append(more, coreform.Entry{Key: coreform.Sym(":op"), Value: coreform.Sym(op)})...)
}

func entry(key string, v coreform.Value) coreform.Entry {
	return coreform.Entry{Key: coreform.Sym(key), Value: v}
}

// Denied is the answer to a request the policy refuses; why is not in it.
func Denied(op string) coreform.Value { return ErrorPayload(CodeDenied, op, opContext(op)) }

// UnknownOp is the answer to a granted request nothing can perform.
func UnknownOp(op string) coreform.Value { return ErrorPayload(CodeUnknownOp, op, opContext(op)) }

// BadPayload is the answer to a payload with a fault.
func BadPayload(op string, f *Fault) coreform.Value {
	more := []coreform.Entry{
		entry(":expected", coreform.Str(f.Expected)),
		entry(":reason", coreform.Sym(string(f.Reason))),
	}
	if !f.Key.IsNil() {
		more = append(more, entry(":key", f.Key))
	}
	return ErrorPayload(CodeBadPayload, op, opContext(op, more...))
}

// ResourceLimit is the answer to a request over a limit of its op. dimension
// is the setting or payload key that was exceeded, performed says whether the
// operation may have taken place. What was observed is not in it: how far a
// handler came before it stopped can differ between hosts.
func ResourceLimit(op, dimension string, limit int64, performed bool) coreform.Value {
	return ErrorPayload(CodeResourceLimit, op, opContext(op,
		entry(":dimension", coreform.Str(dimension)),
		entry(":limit", coreform.Int(limit)),
		entry(":performed", coreform.Bool(performed))))
}

// Timeout is the answer to a request that did not end within its bound in
// milliseconds.
func Timeout(op string, ms int64) coreform.Value {
	return ErrorPayload(CodeTimeout, op, opContext(op, entry(":timeout-ms", coreform.Int(ms))))
}

// PathRefused is the answer to a path the path rules refuse. shown is the path
// in the form that may enter a log.
func PathRefused(op, reason, shown string) coreform.Value {
	return ErrorPayload(CodePath, op, opContext(op,
		entry(":path", coreform.Str(shown)), entry(":reason", coreform.Sym(reason))))
}

// IOFailed is the answer to a request the host could not perform. kind is from
// the closed list of fspolicy, shown as for PathRefused or "" if no path is
// concerned.
func IOFailed(op, kind, shown string) coreform.Value {
	more := []coreform.Entry{entry(":io-kind", coreform.Sym(kind))}
	if shown != "" {
		more = append(more, entry(":path", coreform.Str(shown)))
	}
	return ErrorPayload(CodeIO, op, opContext(op, more...))
}
