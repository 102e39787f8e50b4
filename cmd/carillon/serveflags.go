package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/certificates"
	"github.com/carillon-sched/carillon/cmd/carillon/jobfile"
	"github.com/carillon-sched/carillon/cmd/carillon/listen"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
	"github.com/carillon-sched/carillon/scheduler/client"
	"github.com/carillon-sched/carillon/scheduler/variable"
	"github.com/carillon-sched/carillon/store"
)

// check makes sure that the flags can be meant. A number that others would take for their default, or refuse in words of
// their own once NATS is reached, is a mistake on the command line. All mistakes are told at once.
func (c serveCmd) check() error {
	_, proxy := readProxy(c.Proxy)
	_, delivery := c.delivery()
	problems := []error{
		listen.CheckAddress("http", c.HTTP), listen.CheckHosts(c.Hosts), checkURLs(c.URL), checkPrefix(c.Prefix), proxy, delivery,
		checkLeast("http-connections", c.Connections, 0),
		checkLeast("min-retry-interval", c.MinRetryTime, time.Second),
		checkLeast("nats-wait", c.Wait, 0),
		checkMost("lanes", c.Lanes, store.MaxLanes), checkMost("replicas", c.Replicas, store.MaxReplicas),
		c.historyFlags.check(),
		checkLeast("final-age", c.FinalAge, time.Hour), checkLeast("result-age", c.ResultAge, time.Second),
		checkLeast("audit-age", c.AuditAge, time.Hour),
		checkLeast("concurrency", c.Concurrency, 1), checkLeast("per-target", c.PerTarget, 0),
		checkHold(c.HoldMemory), checkLeast("grace", c.Grace, time.Millisecond),
	}
	problems = append(problems, c.checkFiles(), c.checkAccess(), c.checkMetrics())
	for _, subject := range c.NATSSubject {
		problems = append(problems, checkSubject("nats-subject", subject))
	}
	return errors.Join(problems...)
}

// checkMetrics makes sure that the value of --metrics, if it has one, is an address.
func (c serveCmd) checkMetrics() error {
	if c.Metrics == "" {
		return nil
	}
	return listen.CheckAddress("metrics", c.Metrics)
}

// checkFiles makes sure that the files of a connection hold what they should.
func (f natsConn) checkFiles() error {
	_, err := f.files().Config(certificates.Client{CA: "nats-ca", Cert: "nats-cert", Key: "nats-key"})
	return err
}

// checkHold makes sure that --hold-memory has room for work.
func checkHold(b byteSize) error {
	if b < leastHold {
		return terminal.Usagef("--hold-memory: %s is less than %s", b, byteSize(leastHold))
	}
	return nil
}

// checkLeast makes sure that the value of a flag is not too small.
func checkLeast[N cmp.Ordered](flag string, n, least N) error {
	if n < least {
		return terminal.Usagef("--%s: %v is less than %v", flag, n, least)
	}
	return nil
}

// checkMost makes sure that the value of a flag is neither negative nor too large.
func checkMost(flag string, n, most int) error {
	if n < 0 || n > most {
		return terminal.Usagef("--%s: %d is not in 0-%d", flag, n, most)
	}
	return nil
}

// checkPrefix makes sure that the value of --prefix can begin subjects.
func checkPrefix(prefix string) error {
	if wrong := store.CheckPrefix(cmp.Or(prefix, store.DefaultPrefix)); wrong != "" {
		return terminal.Usagef("--prefix: %s", wrong)
	}
	return nil
}

// checkSubject makes sure that the value of a flag is a NATS subject, which may have wildcards: one that is none would
// match nothing.
func checkSubject(flag, subject string) error {
	tokens := strings.Split(subject, ".")
	for i, token := range tokens {
		wrong := token == "" || strings.ContainsAny(token, " \t\r\n") ||
			len(token) > 1 && strings.ContainsAny(token, "*>") || token == ">" && i < len(tokens)-1
		if wrong {
			return terminal.Usagef("--%s: %q is not a subject such as orders.new, orders.* or orders.>", flag, subject)
		}
	}
	return nil
}

// byteSize is a flag's number of bytes: 160MiB, 200MB or 200000000.
type byteSize int64

// byteUnits are what a byteSize may end with.
var byteUnits = []struct {
	suffix string
	bytes  float64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"kB", 1e3}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}, {"", 1},
}

// UnmarshalText reads a flag's value.
func (b *byteSize) UnmarshalText(text []byte) error {
	number, unit := string(text), 0.0
	for _, u := range byteUnits {
		if n, ok := strings.CutSuffix(number, u.suffix); ok {
			number, unit = strings.TrimSpace(n), u.bytes
			break
		}
	}
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(n) || n < 0 || n*unit > 1<<50 {
		return fmt.Errorf("%q is not a size such as 160MiB, 200MB or 200000000", text)
	}
	*b = byteSize(n * unit)
	return nil
}

// String writes the size as UnmarshalText reads it.
func (b byteSize) String() string {
	for _, u := range []struct {
		shift  int
		suffix string
	}{{30, "GiB"}, {20, "MiB"}, {10, "KiB"}} {
		if b != 0 && b%(1<<u.shift) == 0 {
			return strconv.FormatInt(int64(b)>>u.shift, 10) + u.suffix
		}
	}
	return strconv.FormatInt(int64(b), 10) + "B"
}

// orNone is the size as a setting has it whose zero value is its default: 0 is none.
func (b byteSize) orNone() int64 {
	if b == 0 {
		return -1
	}
	return int64(b)
}

// leastHold is the smallest --hold-memory: room for a thousand jobs or so, so that
// more than one batch of them can be under way.
const leastHold = 8 << 20

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
