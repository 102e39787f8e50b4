package scheduler

import (
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// TargetRule limits the attempts of a collection's jobs to a target, or to each of several. Each process applies the
// rule separately: with n processes, a target can receive up to n times as much.
type TargetRule struct {
	Concurrency int           // attempts in progress; 0: the limit of the process
	Rate        int           // attempts that begin in each Per; 0: no limit
	Per         time.Duration // default: 1 s
	Breaker     *BreakerRule  // nil: none
}

// BreakerRule configures the circuit breaker of a target. An attempt counts as a failure if it has no response, or one
// with 408, 429 or 5xx.
type BreakerRule struct {
	Failures int           // consecutive failures that open the circuit breaker
	OpenFor  time.Duration // how long it stays open until a probe attempt
	Most     time.Duration // maximum deferral of an attempt; then it runs regardless
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

// anyTarget is the name of the rule for targets without another rule.
const anyTarget = "*"

// readTargets reads the targets field of a collection: an object of rules by target, which is a host, a host and port,
// "*.example.com" for every host below, or "*" for all others.
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

// validTarget reports whether name can be the name of a target: a host as in a URI, with an optional port or, for an
// account at a custom endpoint, a path.
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

// limits reports whether the rule limits attempts.
func (r *TargetRule) limits() bool { return r.Rate > 0 || r.Concurrency > 0 }

// Rule returns the rule for a target, nil for none. The most specific name wins: the whole target, its host, the
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
