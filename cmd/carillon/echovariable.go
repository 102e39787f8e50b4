package main

import (
	"context"
	"strings"

	"github.com/carillon-sched/carillon/cmd/carillon/jobfile"
	"github.com/carillon-sched/carillon/scheduler/client"
	"github.com/carillon-sched/carillon/scheduler/variable"
)

// echoVariable is the variable that names a target for trying jobs out.
const echoVariable = variable.Prefix + "ECHO"

// lookupWith returns the environment with a default for CARILLON_ECHO.
func lookupWith(env variable.Lookup, echo string) variable.Lookup {
	return func(name string) (string, bool) {
		if v, ok := env(name); ok || name != echoVariable {
			return v, ok
		}
		return echo, true
	}
}

// lookupAt returns the environment with the /echo of a scheduler for CARILLON_ECHO, if the scheduler has one. It is asked
// once, when a file names the variable; one that does not answer will not take the jobs either.
func lookupAt(ctx context.Context, env variable.Lookup, api *client.Client) variable.Lookup {
	asked, has := false, false
	return func(name string) (string, bool) {
		if v, ok := env(name); ok || name != echoVariable {
			return v, ok
		}
		if !asked {
			found, err := api.HasEcho(ctx)
			asked, has = true, found || err != nil
		}
		return api.URL() + client.EchoPath, has
	}
}

// echoHint says what to do about a target that the scheduler has not; "" when that is not the problem.
func echoHint(p jobfile.Problem) string {
	if !strings.Contains(p.Message, "the variable "+echoVariable+" is not set") {
		return ""
	}
	return "this scheduler has no /echo, which is for trying things out: start it with --echo, or set " + echoVariable +
		" to the URL of a target of your own"
}
