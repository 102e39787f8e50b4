package queues

import (
	"testing"

	"github.com/carillon-sched/carillon/scheduler/console/frame"
	"github.com/carillon-sched/carillon/scheduler/console/frame/frametest"
)

func TestRoutes(t *testing.T) {
	some := Config{Bus: func() Bus { return nil }, Storage: func() Storage { return nil }}
	frametest.Routes(t, []frame.Room{Room(some)}, Path+"/rules")
}
