package sdk

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus"
)

// TestServiceBusProton runs the suite of Qpid Proton, if Python has it (Debian: python3-qpid-proton).
func TestServiceBusProton(t *testing.T) {
	python := ""
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if exec.CommandContext(t.Context(), name, "-c", "import proton.reactor").Run() == nil {
			python = name
			break
		}
	}
	if python == "" {
		t.Skip("python3 has no module proton; on Debian: apt-get install python3-qpid-proton")
	}
	server := startBus(t, queue("orders", ""), func(c *servicebus.Config) { c.AutoCreate = true })
	out, err := exec.CommandContext(within(t), python, "qpid/suite.py", server.Addr()).CombinedOutput()
	if err != nil || strings.Count(string(out), "ok ") != 3 {
		t.Errorf("%v\n%s", err, out)
	}
}
