package policy

import (
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/gcrun/gcrun/effects/ops"
)

// What names hosts, methods, headers and variables. A name that could never
// match is a mistake, and is refused where it is written.

const hostHint = `write it like "api.example", "*.example", "api.example:8443", "192.0.2.1" or "[2001:db8::1]"`

// hostForm is a host as it is compared with that of a URL: in lower case and in
// ASCII, with a port where it is not that of the scheme. (spec/policy.md POL-HOST-1)
func hostForm(d *document, at *node, raw any) (any, bool) {
	v, ok := textForm(d, at, raw)
	if !ok {
		return v, ok
	}
	s := v.(string)
	if problem := hostProblem(s); problem != "" {
		return unfit(d, at, hostHint, problem)
	}
	return s, true
}

// hostProblem says what is wrong with a host, "" if nothing is.
func hostProblem(s string) string {
	switch {
	case strings.Contains(s, "/"):
		return "is a URL or path; a host has no scheme and no path"
	case strings.Contains(s, "@"):
		return "has user information, which no request may have"
	case strings.ToLower(s) != s:
		return "has upper-case letters; hosts are compared in lower case"
	case strings.IndexFunc(s, func(r rune) bool { return r > '~' }) >= 0:
		return "is not ASCII; write the form that begins with xn--"
	}
	name, port, hasPort := splitPort(s)
	if hasPort && !validPort(port) {
		return "has a port that is not a number from 1 to 65535"
	}
	if strings.HasPrefix(name, "[") {
		if !ipv6RE().MatchString(name) {
			return "is not an IPv6 address in brackets"
		}
		return ""
	}
	rest, wild := strings.CutPrefix(name, "*.")
	switch {
	case strings.Contains(rest, "*"):
		return "has a * that is not its first label; *.example stands for every host below example"
	case !validHostName(rest):
		return "is not the name of a host"
	case wild && numeric(rest[strings.LastIndexByte(rest, '.')+1:]):
		return "has a * before an address"
	}
	return ""
}

// splitPort splits host:port and [v6]:port.
func splitPort(s string) (host, port string, has bool) {
	if i := strings.LastIndexByte(s, ':'); i >= 0 && !strings.Contains(s[i:], "]") && (s[0] == '[' || strings.Count(s, ":") == 1) {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}

func validPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n > 0 && s[0] != '0'
}

var (
	ipv6RE  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\[[0-9a-f:]*:[0-9a-f:]*:[0-9a-f:.]*\]$`) })
	labelOK = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$`) })
)

// validHostName accepts names of labels and IPv4 addresses of four decimal
// numbers. A name whose last label is a number in any spelling would be read as
// another address.
func validHostName(s string) bool {
	labels := strings.Split(s, ".")
	for _, l := range labels {
		if !labelOK().MatchString(l) {
			return false
		}
	}
	if numeric(labels[len(labels)-1]) {
		return len(labels) == 4 && !strings.ContainsFunc(s, func(r rune) bool { return r != '.' && (r < '0' || r > '9') }) &&
			validOctets(labels)
	}
	return len(s) <= 253
}

// numeric reports whether a label is what address parsers take for a number.
func numeric(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return label != "" && strings.Trim(label, "0123456789") == ""
}

func validOctets(labels []string) bool {
	for _, l := range labels {
		if n, err := strconv.ParseUint(l, 10, 8); err != nil || strconv.FormatUint(n, 10) != l {
			return false
		}
	}
	return true
}

var methodRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Z-]{1,32}$`) })

func methodForm(d *document, at *node, raw any) (any, bool) {
	v, ok := textForm(d, at, raw)
	if s, _ := v.(string); ok && !methodRE().MatchString(s) {
		return unfit(d, at, `write it like "GET"`, "is not a method in upper-case letters")
	}
	return v, ok
}

func headerForm(d *document, at *node, raw any) (any, bool) {
	v, ok := textForm(d, at, raw)
	if s, _ := v.(string); ok && !ops.ValidHeaderName(s) {
		return unfit(d, at, `write it like "x-token"`, "is not the name of a header in lower case")
	}
	return v, ok
}

// varForm is the name of an environment variable.
func varForm(d *document, at *node, raw any) (any, bool) {
	v, ok := textForm(d, at, raw)
	if s, _ := v.(string); ok && strings.Contains(s, "=") {
		return unfit(d, at, `write the name alone, like "LANG"`, "is not the name of a variable: it has =")
	}
	return v, ok
}

var algorithmRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,31}$`) })

func algorithmForm(d *document, at *node, raw any) (any, bool) {
	v, ok := textForm(d, at, raw)
	if s, _ := v.(string); ok && !algorithmRE().MatchString(s) {
		return unfit(d, at, `write it like "ed25519"`, "is not the name of an algorithm in lower case")
	}
	return v, ok
}
