package scheduler

import (
	"net"
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

// BreakerRule says when attempts to a target that is in trouble are put off.
// Trouble is an attempt without an answer, or one with 408, 429 or 5xx.
type BreakerRule struct {
	Failures int           // in a row, from which the circuit is open
	OpenFor  time.Duration // how long it stays open until one attempt finds out whether the target is back
	Most     time.Duration // how long one attempt is put off at most; then it runs, whatever the circuit
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
// target, which is a host, a host and port, or "*" for each other one.
func readTargets(o *document.Object) map[string]*TargetRule {
	v, ok := o.Value("targets")
	if !ok {
		return nil
	}
	to := o.Reader().Object(v, o.Path("targets"))
	if n := len(v.Members()); n > maxTargets {
		to.Problem("", "has %d members, at most %d are allowed", n, maxTargets)
		return nil
	}
	rules := make(map[string]*TargetRule, len(v.Members()))
	for _, m := range v.Members() {
		name := strings.ToLower(m.Name)
		if name == "" || strings.ContainsAny(name, " \t\r\n") || strings.Contains(name, "://") {
			to.Reader().Problem(to.Path(m.Name), `is not a target: write a host, a host and port, or "*"`)
		}
		ro, ok := to.Object(m.Name)
		if !ok {
			continue
		}
		rules[name] = readTargetRule(ro)
		ro.Done()
	}
	return rules
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
		if d, ok := exactDuration(ro, "per", time.Millisecond, 24*time.Hour); ok {
			r.Per = d
		}
		ro.Require("limit")
		ro.Done()
	}
	bo, ok := o.Object("circuitBreaker")
	if !ok {
		return r
	}
	r.Breaker = &BreakerRule{Failures: defaultTrouble, OpenFor: DefaultOpenFor, Most: DefaultPutOff}
	if n, ok := bo.Int("failures", 1, 1<<20); ok {
		r.Breaker.Failures = int(n)
	}
	if d, ok := exactDuration(bo, "openFor", time.Second, maxOpenFor); ok {
		r.Breaker.OpenFor = d
	}
	if d, ok := exactDuration(bo, "maxPostponement", time.Second, maxPutOff); ok {
		r.Breaker.Most = d
	}
	bo.Done()
	return r
}

// interval is the time between two attempts at the rule's rate.
func (r *TargetRule) interval() time.Duration { return r.Per / time.Duration(r.Rate) }

// rule returns what the collection imposes on attempts to a target, nil for
// nothing: by host and port, by host, or for any.
func (c *Collection) rule(target string) *TargetRule {
	if len(c.Targets) == 0 {
		return nil
	}
	target = strings.ToLower(target)
	if r, ok := c.Targets[target]; ok {
		return r
	}
	if host, _, err := net.SplitHostPort(target); err == nil {
		if r, ok := c.Targets[host]; ok {
			return r
		}
	}
	if host, _, ok := strings.Cut(target, "/"); ok {
		if r, ok := c.Targets[host]; ok {
			return r
		}
	}
	return c.Targets[anyTarget]
}

// rule returns what a collection imposes on attempts to a target, nil for
// nothing.
func (c *collections) rule(name, target string) *TargetRule {
	c.mu.RLock()
	col := c.byID[name]
	c.mu.RUnlock()
	if col == nil {
		return nil
	}
	return col.rule(target)
}
