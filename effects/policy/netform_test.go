package policy

import (
	"fmt"
	"strings"
	"testing"
)

// spec: POL-HOST-1
func TestHosts(t *testing.T) {
	label := strings.Repeat("a", 63)
	for _, ok := range []string{
		"localhost", "api.example", "api.example:8443", "*.example", "*.a.example:1", "a-b.c_d.e2", "xn--caf-dma.example", "127.0.0.1", "10.0.0.255:80",
		"[::1]", "[2001:db8::1]:443", "[::ffff:192.0.2.1]", label + ".a", "1.example", "0x7g.b", "3com",
	} {
		if problem := hostProblem(ok); problem != "" {
			t.Errorf("%s: %s", ok, problem)
		}
		loaded(t, fmt.Sprintf("op.'io/net::http-request' = { allow = true, hosts = [%q] }\n", ok))
	}
	for _, bad := range []string{
		"https://api.example", "api.example/", "me@api.example", "API.example", "caf\u00e9.example", "*", "*:80", "a.*.b", "**.a", "*a.b", "*.", "*.*.a",
		"a..b", ".a", "a.", "-a.b", "a-.b", "a b", " a", "a:", "a:0", "a:080", "a:65536", "a:-1", "a:+1", "a:http", "a:1:2", ":80", "::1", "[]", "[::1", "[::1]x", "[::1]:",
		"[a]", "[fe80::1%eth0]", "127.1", "127.0.0.01", "256.0.0.1", "0x7f.0.0.1", "a.0x7f", "2130706433", "1.2.3.4.5", "a.1", "*.1", "*.0.0.1", label + "a.b",
		strings.Repeat("aa.", 85) + "a", "a\tb", "a?b", "a#b", "a\\b", "a,b",
	} {
		if d := refused(t, fmt.Sprintf("[op.'io/net::http-request']\nhosts = ['a', %q]\n", bad)); d.Code != CodeValue || d.Key != `op."io/net::http-request".hosts[1]` || d.Line != 2 {
			t.Errorf("%q: %+v", bad, d)
		}
		if d := refused(t, fmt.Sprintf("[secrets.s]\nfile = '../x'\nops = ['io/net::http-request']\nhosts = [%q]\n", bad)); d.Code != CodeValue || d.Key != "secrets.s.hosts[0]" {
			t.Errorf("secret for %q: %+v", bad, d)
		}
	}
}

// A name that could never match is refused where it is written.
// spec: POL-KEY-4, POL-KEY-5, POL-SECRET-2
func TestNamesThatNeverMatch(t *testing.T) {
	http, secret := "[op.'io/net::http-request']\n", "[secrets.s]\nops = ['sys/process::exec']\n"
	program := "[op.'sys/process::exec'.programs.p]\npath = '/bin/p'\n"
	for src, key := range map[string]string{
		http + "methods = ['get']\n":                            `op."io/net::http-request".methods[0]`,
		http + "methods = ['GET', 'GET ']\n":                    `op."io/net::http-request".methods[1]`,
		http + "keep_headers = ['Set-Cookie']\n":                `op."io/net::http-request".keep_headers[0]`,
		http + "redact_headers = ['a:']\n":                      `op."io/net::http-request".redact_headers[0]`,
		"[op.'sys/env::get']\nnames = ['A=B']\n":                `op."sys/env::get".names[0]`,
		"[op.'core/crypto::hash']\nalgorithms = ['SHA256']\n":   `op."core/crypto::hash".algorithms[0]`,
		program + "env = ['LANG=C']\n":                          `op."sys/process::exec".programs.p.env[0]`,
		program + "unsafe_env = ['=']\n":                        `op."sys/process::exec".programs.p.unsafe_env[0]`,
		secret + "env = 'A='\n":                                 "secrets.s.env",
		secret + "file = '../x'\nheaders = ['Authorization']\n": "secrets.s.headers[0]",
		secret + "file = '../x'\nvars = ['A', 'B=']\n":          "secrets.s.vars[1]",
	} {
		if d := refused(t, src); d.Code != CodeValue || d.Key != key || d.Hint == "" {
			t.Errorf("%q: %+v", src, d)
		}
	}
	loaded(t, "[op.'io/net::http-request']\nallow = true\nhosts = []\nmethods = ['GET', 'M-SEARCH']\nkeep_headers = ['x-a_b.c', 'set-cookie']\n")
}
