package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// outcome is what a process printed and how it ended.
type outcome struct {
	stdout, stderr string
	code           int
}

// gcrunIn runs the command as a process of its own in a directory. The test
// binary is the command when it is called by that name.
func gcrunIn(t testing.TB, dir string, env []string, args ...string) outcome {
	t.Helper()
	cmd := command(t, dir, env, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return outcome{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

func command(t testing.TB, dir string, env []string, args ...string) *exec.Cmd {
	t.Helper()
	bin, err := exec.LookPath("gcrun") // put there by TestMain
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, bin, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	return cmd
}

// want fails unless a process ended with a code.
func (o outcome) want(t testing.TB, code int) outcome {
	t.Helper()
	if o.code != code {
		t.Fatalf("exit code %d, want %d\nstdout: %s\nstderr: %s", o.code, code, o.stdout, o.stderr)
	}
	return o
}

// write makes files below a directory from name and content.
func write(t testing.TB, dir string, files ...string) {
	t.Helper()
	for i := 0; i < len(files); i += 2 {
		name := filepath.Join(dir, files[i])
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(files[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func read(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// rootOf is the transcript root a run or replay told of.
func rootOf(t testing.TB, stderr string) string {
	t.Helper()
	for line := range strings.Lines(stderr) {
		if r, ok := strings.CutPrefix(line, "root "); ok {
			return strings.TrimSpace(r)
		}
	}
	t.Fatalf("no root in %q", stderr)
	return ""
}
