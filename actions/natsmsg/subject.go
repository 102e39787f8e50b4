package natsmsg

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// maxSubject is the length in bytes of the longest subject. Servers take
// longer ones, up to their control line of 4,096 bytes in all.
const maxSubject = 255

// readSubject reads a subject to publish to. It returns "" if the subject is missing or invalid.
func readSubject(o *document.Object, name string) string {
	subject, ok := o.String(name)
	if !ok {
		return ""
	}
	if err := checkSubject(subject); err != nil {
		o.Problem(name, "%v", err)
		return ""
	}
	return subject
}

// checkSubject says why a subject cannot be published to.
func checkSubject(subject string) error {
	switch {
	case subject == "":
		return errors.New("must not be empty")
	case len(subject) > maxSubject:
		return fmt.Errorf("is %d bytes long, at most %d are allowed", len(subject), maxSubject)
	case strings.ContainsFunc(subject, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }):
		return fmt.Errorf("%q contains a space or a control character", subject)
	case strings.ContainsAny(subject, "*>"):
		return fmt.Errorf("%q contains a wildcard, and a message has one subject", subject)
	case slices.Contains(strings.Split(subject, "."), ""):
		return fmt.Errorf("%q has an empty token: the dots stand between tokens", subject)
	}
	return nil
}

// subjectRules say which subjects jobs may use on the scheduler's connection.
type subjectRules struct {
	prefix string
	inbox  string // prefix of the connection's inboxes; "" is _INBOX
	allow  []string
}

func newSubjectRules(c *Config) subjectRules {
	s := subjectRules{prefix: cmp.Or(c.Prefix, DefaultPrefix), allow: slices.Clone(c.Allow)}
	if len(s.allow) == 0 {
		s.allow = []string{">"}
	}
	if c.Conn != nil {
		s.inbox = c.Conn.Opts.InboxPrefix
	}
	return s
}

// check reports forbidden subjects. It checks the reply subject too, because the responder, which can be
// JetStream, publishes to it.
func (s subjectRules) check(o *document.Object, subject, replyTo string) {
	for _, given := range [...]struct{ name, subject string }{{"subject", subject}, {"replyTo", replyTo}} {
		if err := s.refuses(given.subject); err != nil {
			o.Problem(given.name, "%v", err)
		}
	}
}

// refuses says why jobs may not use a subject on the scheduler's connection;
// nil means that they may.
func (s subjectRules) refuses(subject string) error {
	if err := s.foreign(subject); err != nil {
		return fmt.Errorf("%w; on a connection of the job's own, with servers, it would be the job's matter", err)
	}
	return nil
}

// foreign returns why a subject is not for jobs, nil if it is.
func (s subjectRules) foreign(subject string) error {
	switch {
	case subject == "":
		return nil // missing, or reported before
	case matches(s.prefix+".>", subject) || subject == s.prefix:
		return fmt.Errorf("%q belongs to the scheduler, whose subjects begin with %s", subject, s.prefix)
	case matches(DefaultPrefix+".>", subject) || subject == DefaultPrefix:
		return fmt.Errorf("%q belongs to a scheduler, whose subjects begin with %s", subject, DefaultPrefix)
	case subject[0] == '$' || subject[0] == '_':
		return fmt.Errorf("%q belongs to NATS itself, as all subjects do that begin with $ or _", subject)
	case s.inbox != "" && matches(s.inbox+".>", subject):
		return fmt.Errorf("%q is among the scheduler's inboxes", subject)
	}
	if slices.ContainsFunc(s.allow, func(pattern string) bool { return matches(pattern, subject) }) {
		return nil
	}
	return fmt.Errorf("%q is none of the subjects that this scheduler lets jobs use: %s", subject, strings.Join(s.allow, ", "))
}

// matches reports whether a subject matches a pattern with the wildcards * and
// >.
func matches(pattern, subject string) bool {
	p, s := strings.Split(pattern, "."), strings.Split(subject, ".")
	for i, token := range p {
		if token == ">" {
			return len(s) > i
		}
		if i >= len(s) || token != "*" && token != s[i] {
			return false
		}
	}
	return len(p) == len(s)
}
