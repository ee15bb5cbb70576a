package ops

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gcrun/gcrun/coreform"
	"pgregory.net/rapid"
)

// payloads are, for every operation, payloads that are accepted and payloads
// with a fault, as "reason key payload".
var payloads = map[string]struct{ good, bad []string }{
	"core/crypto::hash": {
		[]string{`{:algorithm "blake3" :data b"\xFF"}`, `{:algorithm blake3 :data "x"}`},
		[]string{`missing-key :algorithm {:data ""}`, `missing-key :data {:algorithm "a"}`, `type :algorithm {:algorithm b"" :data ""}`, `type :data {:algorithm "a" :data 1}`},
	},
	"core/crypto::sign": {
		[]string{`{:algorithm "a" :key-id "k" :message ""}`},
		[]string{`missing-key :key-id {:algorithm "a" :message ""}`, `type :key-id {:algorithm "a" :key-id k :message ""}`, `unknown-key :data {:algorithm "a" :data "" :key-id "k" :message ""}`},
	},
	"core/crypto::verify": {
		[]string{`{:algorithm "a" :key-id "k" :message b"" :signature b""}`},
		[]string{`missing-key :signature {:algorithm "a" :key-id "k" :message ""}`, `type :signature {:algorithm "a" :key-id "k" :message "" :signature "x"}`},
	},
	"core/store::get": {
		[]string{`{:hash "` + h64 + `"}`},
		[]string{`type :hash {:hash nil}`, `value :hash {:hash ""}`, `value :hash {:hash "` + h64[1:] + `"}`, `value :hash {:hash "` + h64 + `0"}`, `value :hash {:hash "` + strings.ToUpper(h64) + `"}`,
			`type :hash {:hash b"` + h64 + `"}`, `not-a-map nil "` + h64 + `"`},
	},
	"core/store::has": {[]string{`{:hash "` + h64 + `"}`}, []string{`missing-key :hash {}`, `type :hash {:hash nil}`}},
	"core/store::put": {
		[]string{`{:artifact nil}`, `{:artifact b"x"}`, `{:artifact {:a [1 "x"]}}`},
		[]string{`missing-key :artifact {}`, `not-a-map nil b"x"`},
	},
	"core/store::verify": {[]string{`{:hash "` + h64 + `"}`, `{:hash nil}`}, []string{`missing-key :hash {}`, `value :hash {:hash "x"}`, `type :hash {:hash 1}`}},
	"core/task::await":   taskID(),
	"core/task::cancel":  taskID(),
	"core/task::status":  taskID(),
	"core/task::channel-close": {
		[]string{`{:channel-id "c"}`, `{:channel-id c}`}, []string{`missing-key :channel-id {}`, `type :channel-id {:channel-id 1}`},
	},
	"core/task::channel-recv":   {[]string{`{:channel-id "c"}`}, []string{`missing-key :channel-id {}`, `type :channel-id {:channel-id nil}`}},
	"core/task::channel-status": {[]string{`{:channel-id "c"}`}, []string{`missing-key :channel-id {}`, `unknown-key :id {:channel-id "c" :id 1}`}},
	"core/task::channel-open": {
		[]string{`{}`, `{:capacity nil}`, `{:capacity 0}`, `{:capacity 9223372036854775807}`},
		[]string{`value :capacity {:capacity -1}`, `value :capacity {:capacity 9223372036854775808}`, `type :capacity {:capacity "1"}`},
	},
	"core/task::channel-send": {
		[]string{`{:channel-id "c" :value nil}`, `{:channel-id c :value {:a 1}}`}, []string{`missing-key :value {:channel-id "c"}`, `missing-key :channel-id {:value 1}`},
	},
	"core/task::scope": {[]string{`{}`, `{:scope nil}`, `{:scope "s"}`, `{:scope s}`}, []string{`type :scope {:scope 1}`, `unknown-key :label {:label "x"}`}},
	"core/task::spawn": {
		[]string{`{}`, `{:payload (quote x)}`, `{:label "l" :parent-task p :payload 1 :scope nil}`}, []string{`type :label {:label b""}`, `type :scope {:scope []}`},
	},
	"io/console::read": {
		[]string{`{}`, `{:max 1}`, `{:max 9223372036854775807}`},
		[]string{`value :max {:max 0}`, `value :max {:max -1}`, `value :max {:max 9223372036854775808}`, `type :max {:max nil}`, `not-a-map nil nil`},
	},
	"io/console::write": {
		[]string{`{:data "" :stream :out}`, `{:data b"\x00" :stream :err}`},
		[]string{`missing-key :stream {:data ""}`, `value :stream {:data "" :stream :in}`, `type :stream {:data "" :stream "out"}`, `value :stream {:data "" :stream out}`, `type :data {:data nil :stream :out}`},
	},
	"io/db::exec": {
		[]string{`{:db "d" :sql "x"}`, `{:batch [] :db "d"}`, `{:db "d" :params [1] :sql ""}`, `{:batch [["a" []]] :db "d" :params []}`},
		[]string{`missing-key :batch {:db "d"}`, `value :sql {:batch [] :db "d" :sql "x"}`, `type :params {:db "d" :params (quote (1)) :sql "x"}`, `missing-key :db {:sql "x"}`, `type :sql {:batch [] :db "d" :sql 1}`},
	},
	"io/db::query": {
		[]string{`{:db "d" :sql "x"}`, `{:db "d" :params [] :sql "x"}`}, []string{`missing-key :sql {:db "d"}`, `unknown-key :batch {:batch [] :db "d"}`, `type :db {:db d :sql "x"}`},
	},
	"io/fs::append": {[]string{`{:data "" :path "a"}`}, []string{`missing-key :data {:path "a"}`, `unknown-key :create {:create "any" :data "" :path "a"}`}},
	"io/fs::copy": {
		[]string{`{:from "a" :to "b"}`, `{:from "a" :overwrite true :to "b"}`}, []string{`missing-key :from {:to "b"}`, `missing-key :to {:from "a"}`, `type :overwrite {:from "a" :overwrite nil :to "b"}`},
	},
	"io/fs::rename": {[]string{`{:from "a" :overwrite false :to "b"}`}, []string{`type :to {:from "a" :to 1}`, `unknown-key :path {:from "a" :path "x" :to "b"}`}},
	"io/fs::list": {
		[]string{`{:path "."}`, `{:path "." :recursive true :skip-unencodable false}`},
		[]string{`type :recursive {:path "." :recursive 1}`, `missing-key :path {:recursive true}`, `type :skip-unencodable {:path "." :skip-unencodable "true"}`},
	},
	"io/fs::mkdir":  {[]string{`{:path "a"}`, `{:parents false :path "a"}`}, []string{`type :parents {:parents nil :path "a"}`, `missing-key :path {}`}},
	"io/fs::remove": {[]string{`{:path "a"}`, `{:path "a" :recursive true}`}, []string{`type :recursive {:path "a" :recursive "true"}`, `missing-key :path {}`}},
	"io/fs::read": {
		// A path the path rules refuse is the handler's to refuse.
		[]string{`{:path "a"}`, `{:path ""}`, `{:path "/etc/passwd"}`, `{:path "../x"}`, `{:path "a\u0000"}`, `{:len 0 :offset 0 :path "a"}`,
			`{:len 9223372036854775807 :offset 9223372036854775807 :path "a"}`},
		[]string{`not-a-map nil nil`, `not-a-map nil "a"`, `not-a-map nil [:path "a"]`, `missing-key :path {}`, `type :path {:path nil}`, `type :path {:path a}`, `type :path {:path b"a"}`,
			`type :len {:len nil :path "a"}`, `value :len {:len -1 :path "a"}`, `value :offset {:offset -1 :path "a"}`, `value :offset {:offset 9223372036854775808 :path "a"}`,
			`unknown-key path {path "a"}`, `unknown-key "path" {"path" "a"}`, `unknown-key ":path" {":path" "a" :path "a"}`, `unknown-key nil {1 2 :path "a"}`, `unknown-key nil {nil nil}`,
			`unknown-key :aa {:aa 1 :bb 2}`, `unknown-key :zz {:len "x" :zz 1}`, `missing-key :path {:len "x"}`, `type :offset {:len -1 :offset "x" :path "a"}`},
	},
	"io/fs::stat": {[]string{`{:path "a"}`}, []string{`missing-key :path {}`, `unknown-key :follow {:follow true :path "a"}`}},
	"io/fs::write": {
		[]string{`{:data "" :path "a"}`, `{:create "any" :data b"" :path "a"}`, `{:create "new" :data "" :path "a"}`, `{:create "replace" :data "" :path "a"}`},
		[]string{`value :create {:create "Any" :data "" :path "a"}`, `value :create {:create "" :data "" :path "a"}`, `type :create {:create any :data "" :path "a"}`, `type :data {:create "x" :data 1 :path "a"}`},
	},
	"io/kv::delete": {[]string{`{:key nil :store "s"}`}, []string{`missing-key :key {:store "s"}`, `type :store {:key 1 :store s}`}},
	"io/kv::get":    {[]string{`{:key {:a 1} :store "s"}`}, []string{`missing-key :key {:store "s"}`, `missing-key :store {:key 1}`}},
	"io/kv::put":    {[]string{`{:key "k" :store "s" :value nil}`}, []string{`missing-key :value {:key "k" :store "s"}`}},
	"io/kv::scan": {
		[]string{`{:store "s"}`, `{:from nil :limit 1 :store "s" :to [1]}`, `{:limit 9223372036854775807 :store "s"}`},
		[]string{`value :limit {:limit 0 :store "s"}`, `type :limit {:limit nil :store "s"}`, `missing-key :store {}`},
	},
	"io/net::http-request": {
		[]string{`{:method "GET" :url "http://a"}`, `{:method "M-SEARCH" :url ""}`, `{:body b"" :method "PUT" :timeout-ms 1 :url "u"}`, `{:form {"a" ["b" {:secret "S"}]} :method "POST" :url "u"}`,
			`{:json {:a {:secret "S"}} :method "POST" :url "u"}`, `{:headers {"accept" "x" "x-a" {:secret "KEY"} "x-b" ["1" {:secret "_k-1"}]} :method "GET" :query {"q" "" "" "x"} :url "u"}`,
			`{:headers {} :method "GET" :timeout-ms 9223372036854 :url "u"}`, `{:headers {"!#$%&'*+-.^_` + "`" + `|~09az" ""} :method "GET" :url "u"}`, `{:headers {"x" []} :method "GET" :url "u"}`},
		[]string{`missing-key :method {:url "u"}`, `missing-key :url {:method "GET"}`, `value :method {:method "get" :url "u"}`, `value :method {:method "" :url "u"}`, `value :method {:method "GET " :url "u"}`,
			`value :method {:method "` + strings.Repeat("A", 33) + `" :url "u"}`, `value :url {:method "GET" :url "a\nb"}`, `value :url {:method "GET" :url "a\rb"}`, `value :url {:method "GET" :url "a\u0000b"}`,
			`value :form {:body "" :form {} :method "POST" :url "u"}`, `value :json {:form {} :json 1 :method "POST" :url "u"}`, `value :json {:body "" :json 1 :method "POST" :url "u"}`,
			`value :headers {:headers {"Accept" "x"} :method "GET" :url "u"}`, `value :headers {:headers {"host" "x"} :method "GET" :url "u"}`, `value :headers {:headers {"proxy-x" "x"} :method "GET" :url "u"}`,
			`value :headers {:headers {"content-length" "1"} :method "GET" :url "u"}`, `value :headers {:headers {"transfer-encoding" "x"} :method "GET" :url "u"}`, `value :headers {:headers {"te" "x"} :method "GET" :url "u"}`,
			`value :headers {:headers {"" "x"} :method "GET" :url "u"}`, `value :headers {:headers {"a b" "x"} :method "GET" :url "u"}`, `value :headers {:headers {"é" "x"} :method "GET" :url "u"}`,
			`value :headers {:headers {"a" "x\r\ny: z"} :method "GET" :url "u"}`, `value :headers {:headers {"a" ["ok" "x\ny"]} :method "GET" :url "u"}`, `type :headers {:headers {:accept "x"} :method "GET" :url "u"}`,
			`type :headers {:headers {"a" 1} :method "GET" :url "u"}`, `type :headers {:headers {"a" {:secret "S" :x 1}} :method "GET" :url "u"}`, `type :headers {:headers {"a" {"secret" "S"}} :method "GET" :url "u"}`,
			`value :headers {:headers {"a" {:secret ""}} :method "GET" :url "u"}`, `value :headers {:headers {"a" {:secret "1x"}} :method "GET" :url "u"}`, `type :headers {:headers {"a" {:secret S}} :method "GET" :url "u"}`,
			`type :headers {:headers {"a" [["x"]]} :method "GET" :url "u"}`, `type :headers {:headers [] :method "GET" :url "u"}`, `value :query {:method "GET" :query {"a" "x\u0000"} :url "u"}`,
			`value :query {:method "GET" :query {"a\u0000" "x"} :url "u"}`, `value :timeout-ms {:method "GET" :timeout-ms 0 :url "u"}`, `value :timeout-ms {:method "GET" :timeout-ms 9223372036855 :url "u"}`,
			`type :body {:body nil :method "GET" :url "u"}`, `type :url {:method "get" :url 1}`},
	},
	"sys/args::list": nothing(), "sys/time::monotonic": nothing(), "sys/time::now": nothing(),
	"sys/env::get": {
		[]string{`{:name "A"}`, `{:name "a b"}`}, []string{`value :name {:name ""}`, `value :name {:name "A=B"}`, `value :name {:name "A\u0000"}`, `type :name {:name A}`, `missing-key :name {}`},
	},
	"sys/process::exec": {
		[]string{`{:program "p"}`, `{:args nil :env nil :program "p"}`, `{:args ["" "a b"] :cwd "x" :env {"A" "" "B" {:secret "S"}} :program "p" :stdin b"\xFF"}`},
		[]string{`missing-key :program {}`, `value :args {:args ["a\u0000"] :program "p"}`, `type :args {:args [1] :program "p"}`, `type :args {:args "a" :program "p"}`, `value :env {:env {"A=B" ""} :program "p"}`,
			`value :env {:env {"" ""} :program "p"}`, `value :env {:env {"A" "\u0000"} :program "p"}`, `type :env {:env {"A" 1} :program "p"}`, `type :env {:env {"A" ["x"]} :program "p"}`, `type :stdin {:program "p" :stdin nil}`},
	},
	"sys/random::bytes": {
		[]string{`{:len 0}`, `{:len 9223372036854775807}`}, []string{`value :len {:len -1}`, `value :len {:len 9223372036854775808}`, `type :len {:len nil}`, `missing-key :len {}`},
	},
	"sys/time::sleep": {
		[]string{`{:ms 0}`, `{:ms 9223372036854}`}, []string{`value :ms {:ms -1}`, `value :ms {:ms 9223372036855}`, `type :ms {:ms "1"}`, `missing-key :ms {}`, `not-a-map nil nil`},
	},
}

const h64 = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func taskID() struct{ good, bad []string } {
	return struct{ good, bad []string }{
		[]string{`{:task-id "t"}`, `{:task-id t}`},
		[]string{`missing-key :task-id {}`, `type :task-id {:task-id nil}`, `type :task-id {:task-id 1}`, `not-a-map nil "t"`},
	}
}

func nothing() struct{ good, bad []string } {
	return struct{ good, bad []string }{
		[]string{`nil`, `{}`}, []string{`not-a-map nil 0`, `not-a-map nil false`, `not-a-map nil []`, `not-a-map nil ""`, `unknown-key :a {:a 1}`},
	}
}

// spec: POL-PAYLOAD-1, POL-PAYLOAD-2, POL-PAYLOAD-3, POL-PAYLOAD-4
func TestCheckPayload(t *testing.T) {
	for _, op := range All() {
		c, ok := payloads[op.Name]
		if !ok || len(c.good) == 0 || len(c.bad) == 0 {
			t.Errorf("%s has no payloads here", op.Name)
			continue
		}
		for _, p := range c.good {
			if f := CheckPayload(op, term(t, p)); f != nil {
				t.Errorf("%s %s: %v", op.Name, p, f)
			}
		}
		for _, row := range c.bad {
			parts := strings.SplitN(row, " ", 3)
			f := CheckPayload(op, term(t, parts[2]))
			if f == nil {
				t.Errorf("%s %s is accepted", op.Name, parts[2])
				continue
			}
			if string(f.Reason) != parts[0] || !coreform.Equal(f.Key, term(t, parts[1])) {
				t.Errorf("%s %s: %s %s, want %s %s", op.Name, parts[2], f.Reason, coreform.FormatLossy(f.Key, 100), parts[0], parts[1])
			}
			if f.Expected == "" || !strings.Contains(f.Error(), string(f.Reason)) || !BadPayload(op.Name, f).IsTerm() {
				t.Errorf("%s %s: %+v", op.Name, parts[2], f)
			}
		}
	}
	for name := range payloads {
		if _, ok := Lookup(name); !ok {
			t.Errorf("%s is no operation", name)
		}
	}
}

// What is expected is said in words of the catalogue. spec: POL-PAYLOAD-3
func TestExpected(t *testing.T) {
	for _, c := range []struct{ op, payload, want string }{
		{"io/fs::read", `nil`, "a map with the keys :len? :offset? :path"},
		{"sys/time::now", `1`, "nil or {}"},
		{"io/fs::read", `{:offset -1 :path "a"}`, "int from 0 to 9223372036854775807"},
		{"io/fs::write", `{:create "x" :data "" :path "a"}`, `string, one of "any" "new" "replace"`},
		{"io/console::write", `{:data "" :stream :x}`, "symbol, one of :out :err"},
		{"io/fs::write", `{:data 1 :path "a"}`, "bytes or string"},
		{"io/db::exec", `{:batch [] :db "d" :sql "x"}`, "only one of :batch :sql"},
		{"io/net::http-request", `{:body "" :json 1 :method "GET" :url "u"}`, "only one of :body :form :json"},
	} {
		op, _ := Lookup(c.op)
		if f := CheckPayload(op, term(t, c.payload)); f == nil || f.Expected != c.want {
			t.Errorf("%s %s: %v, want %s", c.op, c.payload, f, c.want)
		}
	}
}

// An unknown key is told only when that is short, so that an answer cannot be
// made large. spec: POL-PAYLOAD-3
func TestLongKeysAreNotEchoed(t *testing.T) {
	op, _ := Lookup("sys/time::now")
	for n, told := range map[int]bool{1: true, maxEchoedKey: true, maxEchoedKey + 1: false, 1 << 20: false} {
		for _, key := range []coreform.Value{coreform.Str(strings.Repeat("x", n)), coreform.Sym(strings.Repeat("x", n))} {
			f := CheckPayload(op, coreform.MapOf(coreform.Entry{Key: key, Value: coreform.Int(1)}))
			if f == nil || f.Reason != FaultUnknownKey || f.Key.IsNil() == told {
				t.Errorf("%d bytes: %+v", n, f)
			}
		}
	}
	if f := CheckPayload(op, coreform.MapOf(coreform.Entry{Key: coreform.Str(""), Value: coreform.Int(1)})); f == nil || !f.Key.IsNil() {
		t.Errorf("%+v", f)
	}
}

// A value that is no term cannot pass as "any term".
func TestOnlyTerms(t *testing.T) {
	op, _ := Lookup("core/store::put")
	improper := coreform.Cons(coreform.Int(1), coreform.Int(2))
	f := CheckPayload(op, coreform.MapOf(coreform.Entry{Key: coreform.Sym(":artifact"), Value: improper}))
	if f == nil || f.Reason != FaultType {
		t.Errorf("%v", f)
	}
}

// Whatever the payload is, checking it twice gives the same, and a fault makes
// an answer that is a term.
// spec: POL-PAYLOAD-2
func TestCheckPayloadLaw(t *testing.T) {
	all := All()
	var keys []string
	for _, op := range all {
		for _, f := range op.Fields {
			keys = append(keys, f.Key)
		}
	}
	value := rapid.Custom(func(t *rapid.T) coreform.Value {
		return rapid.SampledFrom([]coreform.Value{
			{}, coreform.Int(0), coreform.Int(-1), coreform.Str("x"), coreform.Str(""), coreform.Str("GET"), coreform.Str(h64), coreform.Sym("x"),
			coreform.Bool(true), coreform.Vec(), coreform.Vec(coreform.Str("a")), coreform.MapOf(), coreform.BytesOf([]byte{1}),
		}).Draw(t, "value")
	})
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		op := rapid.SampledFrom(all).Draw(t, "op")
		own := keys
		if len(op.Fields) > 0 && rapid.Bool().Draw(t, "own keys") {
			own = nil
			for _, f := range op.Fields {
				own = append(own, f.Key)
			}
		}
		var es []coreform.Entry
		for _, k := range rapid.SliceOfNDistinct(rapid.SampledFrom(own), 0, min(4, len(own)), rapid.ID[string]).Draw(t, "keys") {
			es = append(es, coreform.Entry{Key: coreform.Sym(k), Value: value.Draw(t, k)})
		}
		p := coreform.MapOf(es...)
		a, b := CheckPayload(op, p), CheckPayload(op, p)
		if fmt.Sprint(a) != fmt.Sprint(b) {
			t.Fatalf("%v and %v", a, b)
		}
		if a == nil {
			accepted++
			for _, e := range es { // exactly the keys of the op
				if name, _ := e.Key.AsSym(); op.Field(name) == nil {
					t.Fatalf("%s accepts %s", op.Name, name)
				}
			}
		} else if !BadPayload(op.Name, a).IsTerm() {
			t.Fatal("the answer is no term")
		}
	})
	if accepted == 0 && !testing.Short() { // -short draws too few to be sure of one
		t.Error("nothing was ever accepted")
	}
}

// spec: POL-SECRET-1
func TestNames(t *testing.T) {
	for name, want := range map[string]bool{"a": true, "_": true, "A_b-9": true, strings.Repeat("a", 64): true,
		"": false, "9": false, "-a": false, "a.b": false, "a b": false, "é": false, "a\x00": false, strings.Repeat("a", 65): false} {
		if ValidSecretName(name) != want {
			t.Errorf("secret name %q: %v", name, !want)
		}
	}
	for name, want := range map[string]bool{"host": true, "x-a": true, strings.Repeat("a", 256): true,
		"": false, "Host": false, "a:b": false, "a b": false, "a\n": false, "é": false, strings.Repeat("a", 257): false} {
		if ValidHeaderName(name) != want {
			t.Errorf("header name %q: %v", name, !want)
		}
	}
}

func TestExceededBefore(t *testing.T) {
	random, _ := Lookup("sys/random::bytes")
	for _, c := range []struct {
		len, max int64
		over     bool
	}{{0, 0, false}, {10, 10, false}, {11, 10, true}, {maxInt, maxInt, false}, {maxInt, maxInt - 1, true}, {1, 0, true}} {
		p := coreform.MapOf(coreform.Entry{Key: coreform.Sym(":len"), Value: coreform.Int(c.len)})
		key, limit, over := ExceededBefore(random, p, c.max)
		if over != c.over || over && (key != ":len" || limit != c.max) {
			t.Errorf("%+v: %s %d %v", c, key, limit, over)
		}
	}
	now, _ := Lookup("sys/time::now")
	if _, _, over := ExceededBefore(now, coreform.Value{}, 0); over {
		t.Error("an operation without such a limit is over it")
	}
}
