package main

import (
	"cmp"
	"errors"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/cmd/carillon/certificates"
	"github.com/carillon-sched/carillon/cmd/carillon/listen"
	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
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
