package scheduler

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// SecretDestination is an [Action] that reports where it sends its secrets. Other actions are assumed to send them to
// Target.
type SecretDestination interface {
	// Recipients returns the recipients of the action's secrets. A recipient without a role is always included.
	Recipients() []Recipient
}

// Recipient receives secrets of an action.
type Recipient struct {
	Role    string // role for the action, such as "token server"; "" for the target itself
	Address string // canonical address, such as "https://example.com"; shown to users
}

// String returns the recipient for a message.
func (r Recipient) String() string { return strings.TrimSpace(r.Role + " " + r.Address) }

// covers reports whether trust in r extends to other: the same address, or the same host over TLS.
func (r Recipient) covers(other Recipient) bool {
	if r.Role != other.Role {
		return false
	}
	host, plain := strings.CutPrefix(r.Address, "http://")
	return r.Address == other.Address || plain && other.Address == "https://"+host
}

func recipients(a Action) []Recipient {
	if c, ok := a.(SecretDestination); ok {
		return c.Recipients()
	}
	return []Recipient{{Address: a.Target()}}
}

// moved returns the old and new recipient of an action's secrets if a change redirects them. A recipient with a new
// role has its own secrets.
func moved(before, after Action) (from, to Recipient, ok bool) {
	if before == nil || after == nil {
		return from, to, false
	}
	old := recipients(before)
	for _, to := range recipients(after) {
		i := slices.IndexFunc(old, func(r Recipient) bool { return r.Role == to.Role })
		if i >= 0 && !slices.ContainsFunc(old, func(r Recipient) bool { return r.covers(to) }) {
			return old[i], to, true
		}
	}
	return from, to, false
}

// authentication is the field that configures how an action authenticates.
const authentication = "authentication"

// mainPath is the path of the main action.
const mainPath = "action"

// retyped is the problem with a secret whose authentication type changes.
const retyped = "belongs to an authentication of another type; send it again, or use a secretRef"

// CheckKept returns [ErrInvalid] if a patch redirects secrets that it does not resend, or changes their use: a user who
// can patch a job could otherwise exfiltrate them. The patch turns before into after; kept are the paths of the secrets
// that it does not resend. Shared secrets are exempt: anyone who may name one may use it.
func CheckKept(before, after *Definition, kept []string) error {
	var problems document.Problems
	others := before.Document().Retyped("", authentication, after.Document())
	for _, path := range kept {
		was, is := before.Action.holding(path), after.Action.holding(path)
		if was == nil || is == nil || was.at != is.at {
			continue // the action is new or removed
		}
		if slices.Contains(others, path) {
			problems = append(problems, document.Problem{Path: path, Message: retyped})
			continue
		}
		if from, to, elsewhere := moved(was.Run, is.Run); elsewhere {
			problems = append(problems, document.Problem{
				Path: path, Message: fmt.Sprintf("belongs to %s; send it again to use it with %s, or use a secretRef", from, to),
			})
		}
	}
	return AsInvalid(problems)
}

// Disguised returns d with text in place of its new secrets, all but those at the paths kept. A dry run compares it
// with a stored job: with the real secrets, it would confirm guesses. The result must not be stored.
func (d *Definition) Disguised(text string, kept []string) *Definition {
	disguised := *d
	disguised.properties, disguised.text = d.Document().Disguised("", text, kept), ""
	return &disguised
}

// holding returns the innermost action or errorAction that contains path, nil for none.
func (s *ActionSpec) holding(path string) *ActionSpec {
	var found *ActionSpec
	for _, a := range s.all() {
		if strings.HasPrefix(path, a.at+".") {
			found = a
		}
	}
	return found
}

// omitted is the problem of a put document that lacks a secret of the job. Get does not return secrets, so putting back
// its result would lose them.
const omitted = "is a secret that the job has and the new document leaves out; send it again, write null to drop it, or use PATCH"

// CheckOmitted returns [ErrInvalid] if next, read at path at, omits a secret of the job cur. A changed action type, or
// a removed errorAction, does not count. errorActions in a list correspond by index.
func CheckOmitted(cur *Job, next *Definition, at string) error {
	if cur == nil || !cur.Def.secrets {
		return nil
	}
	old, _ := cur.Def.Document().Member(mainPath)
	given, _ := next.Document().Member(mainPath)
	paths := omittedOf(mainPath, old, given)
	if len(paths) == 0 {
		return nil
	}
	var problems document.Problems
	for _, path := range paths {
		if at != "" {
			path = at + "." + path
		}
		problems = append(problems, document.Problem{Path: path, Message: omitted})
	}
	return AsInvalid(problems)
}

// omittedOf returns the paths of the secrets of old, including its errorActions, that its replacement given omits.
func omittedOf(path string, old, given document.Value) []string {
	paths := old.Without(errorAction).Omitted(path, given)
	was, _ := old.Member(errorAction)
	is, _ := given.Member(errorAction)
	path += "." + errorAction
	now := listed(is)
	for i, one := range listed(was) {
		at := path
		if is.Kind() == document.KindArray {
			at = fmt.Sprintf("%s[%d]", path, i)
		}
		if i < len(now) {
			paths = append(paths, omittedOf(at, one, now[i])...)
		}
	}
	return paths
}

// listed returns an object as a list of one, and a list unchanged.
func listed(v document.Value) []document.Value {
	switch v.Kind() { //nolint:exhaustive // nothing else is an errorAction
	case document.KindArray:
		return v.Items()
	case document.KindObject:
		return []document.Value{v}
	}
	return nil
}

// addressMembers are the fields of an action's message that form its address, the broader part first.
var addressMembers = []string{"uri", "storageAccount", "namespace", "topicPath", "queueName", "subject"}

// Address returns the destination of the job's action for display and search: the host of a request, the account and
// queue, the namespace and queue or topic, or the subject of a message. It contains no secret. "" if none of these are
// set.
func (d *Definition) Address() string {
	action, _ := d.Document().Member("action")
	return addressOf(action)
}

func addressOf(action document.Value) string {
	for _, m := range action.Members() {
		if m.Name == "errorAction" || m.Name == "retryPolicy" {
			continue
		}
		var parts []string
		for _, name := range addressMembers {
			v, ok := m.Value.Member(name)
			text := v.Text()
			if name == "uri" && ok {
				text = hostOf(text)
			}
			if ok && text != "" && !v.IsSecret() {
				parts = append(parts, text)
			}
		}
		if parts != nil {
			return strings.Join(parts, "/")
		}
	}
	return ""
}

// errSealed keeps a secret sealed: see [document.Value.Unseal].
var errSealed = errors.New("not opened")

// targetOf returns the target of a stored action, "" if it cannot be read.
func targetOf(action document.Value, kind string, actions ActionReader) string {
	for _, trusted := range []bool{true, false} { // as in ReadJob
		r := document.NewReader()
		r.Stored, r.Trusted = true, trusted
		if run := actions.ReadAction(kind, r.Object(action, "")); run != nil {
			return run.Target()
		}
	}
	return ""
}

// hostOf returns the host and port of a URI; its other parts may be secret.
func hostOf(uri string) string {
	if _, rest, ok := strings.Cut(uri, "://"); ok {
		uri = rest
	}
	if end := strings.IndexAny(uri, "/?#"); end >= 0 {
		uri = uri[:end]
	}
	return uri[strings.LastIndexByte(uri, '@')+1:]
}
