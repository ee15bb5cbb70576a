package project

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gcrun/gcrun/internal/testkit"
)

// layer is what a package may do.
type layer struct {
	level int  // it may import packages of the project on lower levels only
	pure  bool // it may not import what reaches the host
}

const testsOnly = -1 // for packages only tests import; they import no other

// table is the import table: every package of the module is in it, and those
// that are planned may be. Its reasons are in RATIONALE.md.
var table = map[string]layer{
	"internal/project": {level: testsOnly},
	"internal/testkit": {level: testsOnly},

	"internal/atomicfile": {level: 0},
	"internal/digest":     {level: 0},
	"internal/escape":     {level: 0},
	"internal/spelling":   {level: 0},
	"internal/unicode17":  {level: 0},

	"coreform":           {level: 1, pure: true},
	"evidence/canonjson": {level: 1},
	"evidence/guard":     {level: 1},
	"fspolicy":           {level: 1},
	"internal/castore":   {level: 1},

	"coreform/format": {level: 2, pure: true},
	"effects/guest":   {level: 2, pure: true},
	"effects/ops":     {level: 2, pure: true},

	"coreform/kernel": {level: 3, pure: true},
	"effects/policy":  {level: 3, pure: true},
	"gclog":           {level: 3},

	"coreform/prelude": {level: 4, pure: true},
	"effects":          {level: 4},
	"pkgmgr":           {level: 4},

	"coreform/check":       {level: 5, pure: true},
	"effects/host/args":    {level: 5},
	"effects/host/clock":   {level: 5},
	"effects/host/console": {level: 5},
	"effects/host/crypto":  {level: 5},
	"effects/host/db":      {level: 5},
	"effects/host/env":     {level: 5},
	"effects/host/files":   {level: 5},
	"effects/host/httpx":   {level: 5},
	"effects/host/process": {level: 5},
	"effects/host/random":  {level: 5},
	"effects/host/store":   {level: 5},
	"effects/host/task":    {level: 5},
	"evidence":             {level: 5},

	"effects/engine": {level: 6},

	"evidence/verify":   {level: 7},
	"pkgmgr/obligation": {level: 7},

	"cmd/gcrun": {level: 8},
}

// host is what a pure package may not import: it would reach the machine, or
// answer differently each time. A folder stands for everything below it.
var host = []string{"os", "time", "net", "math/rand", "crypto/rand", "syscall", "plugin", "golang.org/x/sys"}

// confined lists imports that only certain packages may have. A folder stands
// for everything below it.
var confined = map[string][]string{
	"github.com/zeebo/blake3": {"internal/digest"},
	"hash":                    {"internal/digest"},
	"crypto/md5":              {"internal/digest"},
	"crypto/sha1":             {"internal/digest"},
	"crypto/sha256":           {"internal/digest"},
	"crypto/sha3":             {"internal/digest"},
	"crypto/sha512":           {"internal/digest"},
	"golang.org/x/crypto":     {},

	"golang.org/x/text/unicode/norm": {"internal/unicode17"},
	"github.com/clipperhouse/uax29":  {"internal/unicode17"},
	"github.com/spf13/cobra":         {"cmd/gcrun"},

	// Not in any build that is released: CGO_ENABLED=0, and no test code.
	"C":       {},
	"testing": {"internal/testkit"},
}

func TestImports(t *testing.T) {
	packages := listPackages(t)
	for _, fault := range checkImports(table, packages) {
		t.Error(fault)
	}
}

// goPackage is what `go list` says about a package.
type goPackage struct {
	ImportPath     string
	Dir            string
	Imports        []string
	IgnoredGoFiles []string // excluded here by build constraints
}

func listPackages(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-deps=false", "-json=ImportPath,Dir,Imports,IgnoredGoFiles", "./...")
	cmd.Dir = testkit.Root(t)
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list: %v\n%s", err, exit.Stderr)
		}
		t.Fatal(err)
	}
	var packages []goPackage
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := d.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		p.addIgnored(t)
		packages = append(packages, p)
	}
	if len(packages) == 0 {
		t.Fatal("go list found no package")
	}
	return packages
}

// addIgnored adds the imports of files for other systems, which go list leaves
// out.
func (p *goPackage) addIgnored(t *testing.T) {
	t.Helper()
	for _, name := range p.IgnoredGoFiles {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.ImportsOnly)
		if err != nil {
			t.Error(err)
			continue
		}
		for _, spec := range file.Imports {
			path, _ := strconv.Unquote(spec.Path.Value)
			p.Imports = append(p.Imports, path)
		}
	}
}

// checkImports returns what the packages do against the table, in order.
func checkImports(table map[string]layer, packages []goPackage) []string {
	var faults []string
	report := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	for _, p := range packages {
		name := local(p.ImportPath)
		own, known := table[name]
		if !known {
			report("package %s is not in the import table of internal/project", name)
			continue
		}
		for _, path := range p.Imports {
			if under(path, testkit.ModulePath) {
				target := local(path)
				other, known := table[target]
				switch {
				case !known: // reported as a package of its own
				case other.level == testsOnly:
					report("%s imports %s, which only tests may", name, target)
				case own.level == testsOnly || other.level >= own.level:
					report("%s (level %d) imports %s (level %d)", name, own.level, target, other.level)
				}
				continue
			}
			if own.pure && slices.ContainsFunc(host, func(h string) bool { return under(path, h) }) {
				report("%s is pure and imports %s", name, path)
			}
			for folder, allowed := range confined {
				if under(path, folder) && !slices.Contains(allowed, name) {
					report("%s imports %s, which only %q may", name, path, allowed)
				}
			}
		}
	}
	slices.Sort(faults)
	return faults
}

// local is the path of one of our packages below the module's.
func local(path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(path, testkit.ModulePath), "/")
}

func under(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}

// The check itself notices each kind of fault.
func TestCheckImports(t *testing.T) {
	const m = testkit.ModulePath + "/"
	table := map[string]layer{
		"low": {level: 0}, "mid": {level: 1, pure: true}, "peer": {level: 1}, "top": {level: 2},
		"internal/testkit": {level: testsOnly}, "internal/digest": {level: 0},
	}
	for _, c := range []struct {
		from    string
		imports []string
		want    string
	}{
		{"mid", []string{m + "low", "strings", "unicode/utf8"}, ""},
		{"top", []string{m + "low", m + "mid", "os", "time"}, ""},
		{"mid", []string{m + "peer"}, "mid (level 1) imports peer (level 1)"},
		{"low", []string{m + "top"}, "low (level 0) imports top (level 2)"},
		{"new", nil, "package new is not in the import table of internal/project"},
		{"mid", []string{"os/exec"}, "mid is pure and imports os/exec"},
		{"mid", []string{"math/rand/v2"}, "mid is pure and imports math/rand/v2"},
		{"top", []string{m + "internal/testkit"}, "top imports internal/testkit, which only tests may"},
		{"internal/testkit", []string{"testing", m + "low"}, "internal/testkit (level -1) imports low (level 0)"},
		{"top", []string{"hash/crc32"}, `top imports hash/crc32, which only ["internal/digest"] may`},
		{"internal/digest", []string{"hash/crc32", "github.com/zeebo/blake3", "crypto/sha256"}, ""},
		{"top", []string{"C"}, "top imports C, which only [] may"},
	} {
		got := strings.Join(checkImports(table, []goPackage{{ImportPath: m + c.from, Imports: c.imports}}), "\n")
		if got != c.want {
			t.Errorf("%s importing %q: %q, want %q", c.from, c.imports, got, c.want)
		}
	}
}
