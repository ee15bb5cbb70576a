package main

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gcrun/gcrun/internal/digest"
)

// Files that are no log, not whole, or of another version, through every command
// that reads logs. (cases LG-04, LG-11, LG-12, LG-14)
func TestStatesOfLogs(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "p.gc", strings.Replace(manyReads, "3000", "4", 1), "in/a.txt", "a")
	gcrunIn(t, dir, nil, "record", "p.gc", "--allow", "io/fs::read=in").want(t, 0)
	whole := read(t, filepath.Join(dir, "p.gclog"))
	entries := frames(t, whole, "io/fs::read")
	if len(entries) != 4 {
		t.Fatalf("%d entry frames", len(entries))
	}
	swapped := whole[:entries[1].from] + whole[entries[2].from:entries[2].to] + whole[entries[1].from:entries[1].to] + whole[entries[2].to:]
	for _, c := range []struct {
		name, log string
		exit      int
		code      string
	}{
		{"LG-04 random tail", whole + "\x8a\x01random tail of 17"[:17], exitLog, "log/damaged"},
		{"LG-04 zero tail", whole + strings.Repeat("\x00", 4096), exitLog, "log/damaged"},
		{"LG-04 torn tail", whole[:entries[3].to] + "\x82\x54random tail of 17", exitLog, "log/incomplete"},
		{"LG-11 removed entry", whole[:entries[1].from] + whole[entries[1].to:], exitLog, "log/damaged"},
		{"LG-11 exchanged entries", swapped, exitLog, "log/damaged"},
		{"LG-12 next version", otherVersion(t, whole), exitInput, "log/version"},
		{"LG-14 empty", "", exitLog, "log/incomplete"},
		{"LG-14 one byte", whole[:1], exitLog, "log/incomplete"},
		{"zeros", strings.Repeat("\x00", 1000), exitLog, "log/not-a-log"},
	} {
		write(t, dir, "bad.gclog", c.log)
		for _, args := range [][]string{{"replay"}, {"log", "show"}, {"replay", "--allow-incomplete"}} {
			if c.code == "log/incomplete" && len(args) == 2 && args[0] == "replay" && len(c.log) > 1 {
				gcrunIn(t, dir, nil, append(args, "bad.gclog")...).want(t, exitOK)
				continue
			}
			got := gcrunIn(t, dir, nil, append(args, "bad.gclog", "--json")...)
			doc, err := oneObject([]byte(got.stdout))
			if err != nil {
				t.Fatalf("%s: %v: %s", c.name, err, got.stderr)
			}
			code, _ := lookup(doc, "error.code")
			_, hasOffset := lookup(doc, "error.offset")
			hint, _ := lookup(doc, "error.hint")
			if got.code != c.exit || code != c.code || !hasOffset || hint == nil {
				t.Errorf("%s: %v: exit code %d, %s", c.name, args, got.code, got.stdout)
			}
		}
		if read(t, filepath.Join(dir, "bad.gclog")) != c.log {
			t.Errorf("%s: the file was changed", c.name)
		}
	}
}

type span struct{ from, to int }

// frames finds the frames that hold a text, which must be entries for the text
// given: a frame is an array of a head of 20 bytes and a body.
func frames(t testing.TB, log, text string) []span {
	t.Helper()
	var found []span
	for at := 3; at < len(log); { // behind the tag of the first frame
		from := at
		if log[at] != 0x82 || log[at+1] != 0x54 {
			t.Fatalf("no frame at byte %d", at)
		}
		size := int(binary.BigEndian.Uint32([]byte(log[at+2:])))
		at += 22
		switch head := log[at]; {
		case head < 0x58:
			at++
		case head == 0x58:
			at += 2
		case head == 0x59:
			at += 3
		default:
			at += 5
		}
		if body := log[at : at+size]; strings.Contains(body, text) && !strings.Contains(body, "core/effect") && size < 600 && strings.Contains(body, "a.txt") {
			found = append(found, span{from, at + size})
		}
		at += size
	}
	return found
}

// otherVersion gives an intact header another version.
func otherVersion(t testing.TB, log string) string {
	t.Helper()
	b := []byte(strings.Replace(log, "4-dev", "5-dev", 1))
	if bytes.Equal(b, []byte(log)) {
		t.Fatal("the header does not hold its version")
	}
	head := 5 // tag, array, head of a byte string of 20
	size := int(binary.BigEndian.Uint32(b[head:]))
	body := head + 20 + 2
	if b[head+20] == 0x59 {
		body++
	}
	binary.BigEndian.PutUint32(b[head+12:], digest.CRC32C(b[body:body+size]))
	return string(b)
}
