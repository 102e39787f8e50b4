package jobfile

import (
	"cmp"
	"path/filepath"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/view"
)

// isCollection reports whether a document is a collection, and no job.
func isCollection(doc document.Value) bool {
	for _, m := range doc.Members() {
		if strings.EqualFold(m.Name, "type") {
			return strings.EqualFold(m.Value.Text(), view.CollectionType)
		}
	}
	return false
}

// collection makes what is applied of a collection's document.
func (r Reader) collection(from Source, doc document.Value, only bool) (Job, error) {
	name := text(doc, "name")
	switch {
	case name != "":
	case only && r.Name != "" && (from.File == stdinName || r.Collections):
		name = r.Name
	case !only || from.File == stdinName:
		return Job{}, document.Problem{Path: "name", Message: "is missing: a collection must have one"}
	default:
		name = strings.TrimSuffix(filepath.Base(from.File), filepath.Ext(from.File))
	}
	return Job{Source: from, Key: scheduler.Key{Collection: name}, Body: doc.JSON()}, scheduler.ValidateCollection(name)
}

// IsCollection reports whether the document is a collection: its key names no
// job.
func (j Job) IsCollection() bool { return j.Key.Job == "" }

// Name is what messages call it: collection/job, or "collection NAME".
func (j Job) Name() string {
	if j.IsCollection() {
		return "collection " + j.Key.Collection
	}
	return j.Key.String()
}

// inOrder compares two documents by when they are applied: jobs need their
// collections.
func inOrder(a, b Job) int { return cmp.Compare(turn(a), turn(b)) }

func turn(j Job) int {
	if j.IsCollection() {
		return 0
	}
	return 1
}
