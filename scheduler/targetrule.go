package scheduler

import (
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// TargetRule is what a collection imposes on its jobs' attempts to one target,
// or to each of several. Each process keeps the rules for itself: with n of
// them a target sees up to n times as much.
type TargetRule struct {
	Concurrency int           // attempts in flight; 0: as many as the process allows
	Rate        int           // attempts that begin in each Per; 0: no limit
	Per         time.Duration // one second unless it is given
	Breaker     *BreakerRule  // nil: none
}

// BreakerRule says when attempts to a target that is in trouble are deferred.
// Trouble is an attempt without an answer, or one with 408, 429 or 5xx.
type BreakerRule struct {
	Failures int           // in a row, from which the circuit is open
	OpenFor  time.Duration // how long it stays open until one attempt finds out whether the target is back
	Most     time.Duration // how long one attempt is deferred at most; then it runs, whatever the circuit
}

// The defaults and limits of target rules.
const (
	maxTargets     = 100
	DefaultOpenFor = 30 * time.Second
	DefaultPutOff  = 10 * time.Minute
	defaultTrouble = 5
	maxOpenFor     = time.Hour
	maxPutOff      = 24 * time.Hour
)

// anyTarget is the name of the rule for targets that have none of their own.
const anyTarget = "*"

// readTargets reads the targets member of a collection: an object of rules by
// target, which is a host, a host and port, "*.example.com" for every host
// below, or "*" for each other one.
func readTargets(o *document.Object) map[string]*TargetRule {
	v, ok := o.Sample("targets", document.ObjectValue(document.Member{Name: anyTarget, Value: document.ObjectValue()}))
	if !ok {
		return nil
	}
	to := o.Inner("targets", v)
	if n := len(v.Members()); n > maxTargets {
		to.Problem("", "has %d members, at most %d are allowed", n, maxTargets)
		return nil
	}
	rules := make(map[string]*TargetRule, len(v.Members()))
	for _, m := range v.Members() {
		name := strings.ToLower(m.Name)
		if !validTarget(name) {
			to.Reader().Problem(to.Path(m.Name), `is not a target: write a host, a host and port, "*.example.com" or "*"`)
		}
		ro, ok := to.Object(m.Name)
		if !ok {
			continue
		}
		if rules[name] != nil {
			to.Reader().Problem(to.Path(m.Name), "is given twice, in different letter case")
		}
		rules[name] = readTargetRule(ro)
		ro.Done()
	}
	return rules
}

// validTarget reports whether name can be that of a target: a host as a URI
// has it, with a port or, of an account at an endpoint of its own, a path.
func validTarget(name string) bool {
	host, port, err := net.SplitHostPort(name)
	if err == nil {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			port, _, _ = strings.Cut(port, "/")
			if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
				return false
			}
		}
	} else {
		host = name
	}
	host = strings.TrimPrefix(host, "*.")
	return host == anyTarget && err != nil || host != "" && !strings.ContainsAny(host, " \t\r\n*?#@") && !strings.Contains(host, "//")
}

func readTargetRule(o *document.Object) *TargetRule {
	r := &TargetRule{Per: time.Second}
	if n, ok := o.Int("concurrency", 1, 1<<20); ok {
		r.Concurrency = int(n)
	}
	if ro, ok := o.Object("rate"); ok {
		if n, ok := ro.Int("limit", 1, 1<<20); ok {
			r.Rate = int(n)
		}
		if d, ok := ro.ExactDuration("per", time.Millisecond, 24*time.Hour); ok {
			r.Per = d
		}
		ro.Require("limit")
		ro.Done()
	}
	bo, ok := o.Object("circuitBreaker")
	if !ok {
		if !r.limits() {
			o.Problem("", "has no rule: give concurrency, rate or circuitBreaker")
		}
		return r
	}
	r.Breaker = &BreakerRule{Failures: defaultTrouble, OpenFor: DefaultOpenFor, Most: DefaultPutOff}
	if n, ok := bo.Int("failures", 1, 1<<20); ok {
		r.Breaker.Failures = int(n)
	}
	if d, ok := bo.ExactDuration("openFor", time.Second, maxOpenFor); ok {
		r.Breaker.OpenFor = d
	}
	r.Breaker.Most = max(r.Breaker.Most, r.Breaker.OpenFor)
	d, ok := bo.ExactDuration("maxPostponement", 0, maxPutOff)
	if ok && bo.NotShorter("maxPostponement", d, r.Breaker.OpenFor) {
		r.Breaker.Most = d
	}
	bo.Done()
	return r
}

// limits reports whether the rule holds attempts back.
func (r *TargetRule) limits() bool { return r.Rate > 0 || r.Concurrency > 0 }

// Rule returns what the collection imposes on attempts to a target, nil for
// nothing. The most exact name counts: the target as a whole, its host, the
// nearest domain above it, any.
func (c *Collection) Rule(target string) *TargetRule {
	if len(c.Targets) == 0 {
		return nil
	}
	target = strings.ToLower(target)
	if r, ok := c.Targets[target]; ok {
		return r
	}
	host, _, _ := strings.Cut(target, "/")
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if r, ok := c.Targets[host]; ok {
		return r
	}
	for domain := host; ; {
		_, above, ok := strings.Cut(domain, ".")
		if !ok {
			return c.Targets[anyTarget]
		}
		if r, ok := c.Targets["*."+above]; ok {
			return r
		}
		domain = above
	}
}
