package console

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/access"
	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/queues"
	"github.com/carillon-sched/carillon/scheduler/service"
)

// asking are routes that take a form and change nothing of the scheduler, or ask for another right once they have read it.
var asking = []string{
	frame.Root + "/collections", // the collection is in the form
	frame.Root + "/load/renew",
	frame.Root + "/preview",
	queues.Path + "/rules",
}

// TestRoutes has who may only read change nothing, nor be asked whether to, and all parts that last be among those of which there
// are only so many.
func TestRoutes(t *testing.T) {
	all := rooms(Config{Service: new(service.Service), Rooms: []frame.Room{
		queues.Room(queues.Config{Bus: struct{ queues.Bus }{}, Storage: struct{ queues.Storage }{}}),
	}})
	changing := []access.Right{access.Operate, access.OperateAny, access.Administer}
	forms := []string{"delete", "edit", "new", "send", "resubmit", "purge", "put", "clear"}
	seen := 0
	for _, room := range all {
		for _, r := range room.Routes {
			seen++
			last := r.Path[strings.LastIndexByte(r.Path, '/')+1:]
			changes := r.Method == http.MethodPost && !slices.Contains(asking, r.Path) || slices.Contains(forms, last)
			if changes && !slices.Contains(changing, r.Right) {
				t.Errorf("%s %s asks for no more than %s", r.Method, r.Path, r.Right)
			}
			if strings.Contains(r.Path, "{c}") && slices.Contains([]access.Right{access.Open, access.Known, access.ReadAny, access.OperateAny}, r.Right) {
				t.Errorf("%s %s does not ask for a right on its collection, but for %s", r.Method, r.Path, r.Right)
			}
			if r.Live != (last == "events") {
				t.Errorf("%s %s: live is %v", r.Method, r.Path, r.Live)
			}
			if r.Method != http.MethodGet && r.Method != http.MethodPost {
				t.Errorf("%s %s is no method of forms", r.Method, r.Path)
			}
		}
	}
	if seen < 60 {
		t.Errorf("there are %d routes", seen)
	}
}
