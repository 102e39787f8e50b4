package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// maxExposure is how much a service may be open to attack, by systemd's count, of 100. What is left of it is the network,
// which a scheduler is for.
const maxExposure = "15"

// TestUnit has systemd check the unit.
func TestUnit(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd is not here; on Debian: apt-get install systemd")
	}
	text, err := os.ReadFile("../../../examples/systemd/carillon.service")
	if err != nil {
		t.Fatal(err)
	}
	credentials, err := os.ReadFile("../../../examples/systemd/credentials.conf")
	if err != nil {
		t.Fatal(err)
	}
	here, err := os.Executable() // systemd looks whether the program is there
	if err != nil {
		t.Fatal(err)
	}
	unit := filepath.Join(t.TempDir(), "carillon.service")
	for _, file := range []struct{ path, text string }{
		{unit, strings.ReplaceAll(string(text), "/usr/bin/carillon", here)},
		{filepath.Join(unit+".d", "credentials.conf"), string(credentials)},
	} {
		if err := os.MkdirAll(filepath.Dir(file.path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file.path, []byte(file.text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"verify", "--man=no", unit},
		{"security", "--offline=true", "--threshold=" + maxExposure, unit},
	} {
		out, err := exec.CommandContext(t.Context(), analyze, args...).CombinedOutput()
		if err != nil || strings.Contains(string(out), unit+":") {
			t.Errorf("%s: %v\n%s", args[0], err, out)
		}
	}
}
