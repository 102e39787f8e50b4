package store

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Shuts are all streams that were found shut, or idle, by one check. None is
// well.
type Shuts []Shut

// Explain says in one sentence what is wrong, why, and what to do about it.
// restarts tells whether this process restarts the server itself.
func (s Shuts) Explain(restarts bool) string {
	return s.What() + ": " + s.Reason() + "; " + s.Advice(restarts)
}

// What says what is wrong: "no writes are taken by streams A, B and 3 more".
func (s Shuts) What() string {
	if i := slices.IndexFunc(s, func(found Shut) bool { return !found.Idle }); i < 0 {
		return "nobody is given what falls due in " + s.Streams()
	}
	return "no writes are taken by " + s.Streams()
}

// mostNamed is how many streams are named at once.
const mostNamed = 4

// Streams names the streams: "streams A, B and 3 more".
func (s Shuts) Streams() string {
	names := make([]string, 0, mostNamed)
	for _, found := range s[:min(len(s), mostNamed)] {
		names = append(names, found.Stream)
	}
	text := strings.Join(names, ", ")
	if more := len(s) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	if len(s) == 1 {
		return "stream " + text
	}
	return "streams " + text
}

// Reason is why: what a server told, if one did.
func (s Shuts) Reason() string {
	i := max(0, slices.IndexFunc(s, func(found Shut) bool { return found.Told }))
	return s[i].Reason
}

// remedies are what to do about the reasons that servers give.
var remedies = []struct{ reason, remedy string }{
	{noAnswer, "see whether the server hangs, and its log"},
	{"has no leader", "start the NATS servers that are away, and see their logs"},
	{"is gone", `restart a scheduler, which makes it again; "carillon docs disasters" tells what is lost`},
	{"stream not found", `restart the schedulers if it stays away: they make it again, and "carillon docs disasters" tells what is lost`},
	{"JetStream is off", "start the server with JetStream, and see its log"},
	{"no space left", "free some space where the server keeps its data"},
	{"quota exceeded", "free some space where the server keeps its data"},
	{"not enough space", "free some space where the server keeps its data"},
	{"too many open files", "raise the server's limit of open files, or end clients that it does not need"},
	{"read-only file system", "make the file system writable where the server keeps its data"},
	{"permission denied", "let the server write to where it keeps its data"},
	{"insufficient resources", "free some space, or raise max_file_store in the server's configuration"},
	{"resources exceeded", "raise the limits of the account, or free some space"},
}

// remedyOf is what to do about a reason; "" when that is not known.
func remedyOf(reason string) string {
	for _, r := range remedies {
		if strings.Contains(reason, r.reason) {
			return r.remedy
		}
	}
	return ""
}

// Advice is what to do about it. restarts tells whether this process restarts
// the server itself.
func (s Shuts) Advice(restarts bool) string {
	remedy := cmp.Or(remedyOf(s.Reason()), "see the log of the server")
	told := slices.ContainsFunc(s, func(found Shut) bool { return found.Told })
	switch {
	case told && restarts:
		return remedy + "; the server is restarted then"
	case told:
		return remedy + ", and restart the server: it keeps the streams shut until then"
	}
	return remedy
}
