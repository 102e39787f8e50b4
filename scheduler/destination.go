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
	// Recipients returns who is shown secrets of the action. It does not depend
	// on whether there are any.
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

// The paths of the actions of a job.
const (
	mainPath  = "action"
	errorPath = "action.errorAction"
)

// CheckKept returns [ErrInvalid] when a patch, which makes after of before,
// sends secrets elsewhere that it does not name itself: whoever may patch a job
// could have them sent home. kept is where the secrets stand that it does not
// name. Shared secrets are not affected: who names one may use it.
func CheckKept(before, after *ActionSpec, kept []string) error {
	var problems document.Problems
	for _, path := range kept {
		from, to, elsewhere := moved(before.Run, after.Run)
		if strings.HasPrefix(path, errorPath+".") {
			if before.OnError == nil || after.OnError == nil {
				continue
			}
			from, to, elsewhere = moved(before.OnError.Run, after.OnError.Run)
		}
		if elsewhere {
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

// omitted is what is wrong with a document that is put without a secret that its
// job has: whoever puts back what get has shown would lose it.
const omitted = "is a secret that the job has and the new document leaves out; send it again, write null to drop it, or use PATCH"

// CheckOmitted returns [ErrInvalid] when next, which was read at the path at, has
// nothing for a secret of the job. An action of another type, and an errorAction
// that is left out as a whole, are new.
func CheckOmitted(cur *Job, next *Definition, at string) error {
	if cur == nil || !cur.Def.secrets {
		return nil
	}
	old, _ := cur.Def.properties.Member(mainPath)
	given, _ := next.properties.Member(mainPath)
	_, name, _ := strings.Cut(errorPath, ".")
	oldError, _ := old.Member(name)
	givenError, _ := given.Member(name)
	paths := old.Without(name).Omitted(mainPath, given)
	paths = append(paths, oldError.Omitted(errorPath, givenError)...)
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
