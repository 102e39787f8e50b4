package scheduler

import (
	"fmt"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// SecretDestination is an [Action] that says where its secrets go. Those of an action
// that does not are taken to go to its Target.
type SecretDestination interface {
	// Recipients returns who is shown secrets of the action. One without a role
	// there is whether it has secrets or not.
	Recipients() []Recipient
}

// Recipient is one that is shown secrets.
type Recipient struct {
	Role    string // what it is to the action, such as "token server"; "" for the target itself
	Address string // where it is, in one spelling, such as "https://example.com"; it is shown
}

// String returns the recipient for a message.
func (r Recipient) String() string { return strings.TrimSpace(r.Role + " " + r.Address) }

// covers reports whether who trusts r with a secret trusts other with it too:
// the same place, or the same one over TLS.
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

// moved returns where the secrets of an action went and would go after a change,
// if that is somewhere else. A recipient of a role that there was not before has
// its own secrets.
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

// authentication is the member that says how an action proves who it is.
const authentication = "authentication"

// mainPath is where a job has its action.
const mainPath = "action"

// retyped is what is wrong with a secret that would be sent in another way.
const retyped = "belongs to an authentication of another type; send it again, or use a secretRef"

// CheckKept returns [ErrInvalid] when a patch, which makes after of before,
// sends secrets elsewhere that it does not name itself, or makes something else
// of them: whoever may patch a job could have them sent home. kept is where the
// secrets stand that it does not name. Shared secrets are not affected: who names
// one may use it.
func CheckKept(before, after *Definition, kept []string) error {
	var problems document.Problems
	others := before.properties.Retyped("", authentication, after.properties)
	for _, path := range kept {
		was, is := before.Action.holding(path), after.Action.holding(path)
		if was == nil || is == nil || was.at != is.at {
			continue // it is of an action that is new, or gone
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
	if len(problems) == 0 {
		return nil
	}
	return AsInvalid(problems)
}

// Disguised returns d with another text in the place of the secrets that it
// brings, which are those that were not kept. Compared with that of a job it shows
// nothing of theirs: a dry run would tell whether a guess is right, as often as
// it is asked. It is not for storing.
func (d *Definition) Disguised(text string, kept []string) *Definition {
	disguised := *d
	disguised.properties = d.properties.Disguised("", text, kept)
	return &disguised
}

// holding returns the one of an action and its errorActions that a path leads
// into, nil for none: the innermost.
func (s *ActionSpec) holding(path string) *ActionSpec {
	var found *ActionSpec
	for _, a := range s.all() {
		if strings.HasPrefix(path, a.at+".") {
			found = a
		}
	}
	return found
}

// omitted is what is wrong with a document that is put without a secret that its
// job has: whoever puts back what get has shown would lose it.
const omitted = "is a secret that the job has and the new document leaves out; send it again, write null to drop it, or use PATCH"

// CheckOmitted returns [ErrInvalid] when next, which was read at the path at, has
// nothing for a secret of the job. An action of another type, and an errorAction
// that is left out as a whole, are new. Those of a list are told by their places.
func CheckOmitted(cur *Job, next *Definition, at string) error {
	if cur == nil || !cur.Def.secrets {
		return nil
	}
	old, _ := cur.Def.properties.Member(mainPath)
	given, _ := next.properties.Member(mainPath)
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

// omittedOf returns the paths of the secrets of an action, and of its
// errorActions, that the one given in its place has nothing for.
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

// listed returns one thing as a list, and a list as it is.
func listed(v document.Value) []document.Value {
	switch v.Kind() { //nolint:exhaustive // nothing else is an errorAction
	case document.KindArray:
		return v.Items()
	case document.KindObject:
		return []document.Value{v}
	}
	return nil
}

// addressMembers are the members of an action's message that say where it goes, the wider place first.
var addressMembers = []string{"uri", "storageAccount", "namespace", "topicPath", "queueName", "subject"}

// Address is what the job's action is sent to, for people who look for it: the host of a request, the account and queue, the
// namespace and queue or topic, or the subject of a message. It has no secret. "" when nothing of this is said.
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

// hostOf returns the host of a URI with its port: what else there is may be a secret.
func hostOf(uri string) string {
	if _, rest, ok := strings.Cut(uri, "://"); ok {
		uri = rest
	}
	if end := strings.IndexAny(uri, "/?#"); end >= 0 {
		uri = uri[:end]
	}
	return uri[strings.LastIndexByte(uri, '@')+1:]
}
