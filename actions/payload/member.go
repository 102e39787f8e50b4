package payload

import "github.com/carillon-sched/carillon/scheduler/document"

// ReadMember calls read for the member of an action that holds what belongs to
// its type, and reports what that has left unread. It returns false when there
// was any problem, such as that the member is missing.
func ReadMember(action *document.Object, name string, read func(o *document.Object)) bool {
	if !action.Require(name) {
		return false
	}
	before := action.Reader().Problems()
	if o, ok := action.Object(name); ok {
		read(o)
		o.Done()
	}
	return action.Reader().Problems() == before
}
