// Command carillon is a job scheduler on NATS JetStream: see carillon --help.
package main

import (
	"os"
	_ "time/tzdata" // time zones are those of this program, whatever the host has

	"github.com/KimMachineGun/automemlimit/memlimit"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
)

func main() {
	t := terminal.System()
	t.Version = thisBuild().Version
	limitMemory(t.Lookup, memlimit.FromCgroup)
	os.Exit(run(os.Args[1:], t))
}
