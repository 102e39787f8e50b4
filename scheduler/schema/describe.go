package schema

import (
	"strconv"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// Description is what is told of a member: in editors, by `carillon explain`, and
// in the schemas.
type Description struct {
	Text    string // one or two sentences, with units and where the rule comes from
	Default string // what holds without the member; "" if there is nothing to say
	Example string // as it may stand in a job file, in one line
}

// Describe returns the description of a path, such as job.recurrence.schedule or
// collection.targets.*; the envelope and the indexes of lists are left out. It is
// the one with the longest end of the path. Defaults of a collection are described as settings of jobs, errorActions as actions.
func Describe(path string) (d Description, key string) {
	path = strings.Replace(path, "collection.defaults.", "job.", 1)
	if at := strings.LastIndex(path, errorActionMember+"."); at >= 0 {
		path = "job.action" + path[at+len(errorActionMember):]
	}
	for key = path; ; {
		for _, table := range []map[string]Description{ofJobs, ofActions, ofCollections} {
			if d, ok := table[key]; ok {
				return d, key
			}
		}
		_, rest, more := strings.Cut(key, ".")
		if !more {
			return Description{}, ""
		}
		key = rest
	}
}

// Bounds tells the least and the most that a value of a shape may be, "" if
// nothing bounds it: "PT1S to PT30M", "0 to 20".
func Bounds(s *document.Shape) string {
	for _, f := range s.Forms {
		switch {
		case !f.Bounded():
		case f.Kind == document.FormLength:
			least, most := document.Duration{Exact: time.Duration(f.Least)}, document.Duration{Exact: time.Duration(f.Most)}
			return least.String() + " to " + most.String()
		default:
			return strconv.FormatInt(f.Least, 10) + " to " + strconv.FormatInt(f.Most, 10)
		}
	}
	return ""
}
