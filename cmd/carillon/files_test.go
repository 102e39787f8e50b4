package main

import (
	"bytes"
	"encoding/base64"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// mode checks who may do what with a file: mode 600 FILE.
func mode(ts *testscript.TestScript, _ bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	if got := strconv.FormatUint(uint64(info.Mode().Perm()), 8); got != args[0] {
		ts.Fatalf("%s has the mode %s", args[1], got)
	}
}

// fillFile makes a file of so many bytes of text: fill N FILE.
func fillFile(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), bytes.Repeat([]byte("a"), n), 0o600))
}

// beginning makes a file of the first bytes of one: begin N FROM FILE.
func beginning(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(ts.ReadFile(args[1])[:n]), 0o600))
}

// join makes a file of others: join FILE FROM….
func join(ts *testscript.TestScript, _ bool, args []string) {
	var all []byte
	for _, from := range args[1:] {
		all = append(all, ts.ReadFile(from)...)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), all, 0o600))
}

// unbase64 makes a file of one in base64: unbase64 FROM FILE.
func unbase64(ts *testscript.TestScript, _ bool, args []string) {
	data, err := base64.StdEncoding.DecodeString(strings.TrimSpace(ts.ReadFile(args[0])))
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), data, 0o600))
}

// needShell skips a test where there is no shell, as in a container that has nothing but Go.
func needShell(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("it needs sh, which is not here")
	}
}
