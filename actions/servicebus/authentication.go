package servicebus

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/carillon-sched/carillon/actions"
	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
)

// authentication is the member of that name: the shared access key.
type authentication struct {
	name string
	key  document.Secret // none, or an empty one: emulatorKey
}

// The key of Microsoft's emulator, for where any key will do.
const (
	emulatorName = "RootManageSharedAccessKey"
	emulatorKey  = "SAS_KEY_VALUE"
)

// keyNames are the names that a shared access policy may have. Others would
// not be found in the token, where the SDK puts them as they are.
var keyNames = regexp.MustCompile(`^[A-Za-z0-9._-]{1,256}$`)

// readAuthentication reads authentication. Without optional, the key is
// required.
func readAuthentication(o *document.Object, optional bool) authentication {
	a := authentication{name: emulatorName}
	ao, ok := o.Object("authentication")
	if !ok {
		if !optional && !o.Has("authentication") {
			o.Problem("authentication", "is required: give the sasKeyName and sasKey of a shared access policy that may send")
		}
		return a
	}
	defer ao.Done()
	ao.Enum("type", "notSpecified", "sharedAccessKey")
	name, ok := ao.String("sasKeyName")
	switch {
	case ok && keyNames.MatchString(name):
		a.name = name
	case ok && name != "":
		ao.Problem("sasKeyName", "is not the name of a shared access policy: 1 to 256 letters, digits, dots, hyphens and underscores")
	case !optional && (ok || !ao.Has("sasKeyName")):
		ao.Problem("sasKeyName", "is required: the name of the shared access policy that sasKey belongs to")
	}
	a.key, ok = ao.Secret("sasKey")
	missing := !ao.Has("sasKey")
	if text, literal := a.key.Literal(); ok && literal {
		missing = text == ""
		if err := checkKey(text); err != nil {
			ao.Problem("sasKey", "%v", err)
		}
	}
	if missing && !optional {
		ao.Problem("sasKey", "is required. It is never returned, so a job that was read and is put back lacks it: "+
			`give the key again, or {"secretRef": "name"}`)
	}
	return a
}

// checkKey refuses invalid keys, and those that the SDK would misread. Its errors do not show the key.
func checkKey(key string) error {
	switch {
	case strings.Contains(strings.ToLower(key), "sharedaccesskey="):
		return errors.New("is a connection string; give what follows SharedAccessKey= alone")
	case strings.HasPrefix(key, "SharedAccessSignature "):
		return errors.New("is a shared access signature; give the key of the policy, with which the scheduler signs itself")
	case strings.ContainsFunc(key, func(r rune) bool { return r == ';' || unicode.IsSpace(r) || unicode.IsControl(r) }):
		return errors.New("must not contain semicolons, spaces or line breaks")
	}
	return nil
}

// given reports whether the job gives a key.
func (a authentication) given() bool { return !a.key.IsZero() }

// reveal returns the key for an attempt.
func (a authentication) reveal(at scheduler.Attempt) (key string, failure *actions.Failure) {
	if !a.given() {
		return emulatorKey, nil
	}
	key, err := at.Reveal(a.key)
	if err != nil {
		return "", actions.Unready(err)
	}
	if key == "" {
		return "", actions.Invalid(errors.New("the shared access key is empty"))
	}
	if err := checkKey(key); err != nil {
		return "", actions.Invalid(fmt.Errorf("the shared access key %w", err))
	}
	return key, nil
}
