package console

import (
	"testing"

	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/frame/frametest"
	"github.com/carillon-sched/carillon/scheduler/control"
)

func TestRoutes(t *testing.T) {
	// The collection is in the first form.
	frametest.Routes(t, sections(Config{Service: new(control.Service)}), frame.Root+"/collections", frame.Root+"/load/renew", frame.Root+"/preview")
}
