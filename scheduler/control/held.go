package control

import (
	"context"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
	"github.com/carillon-sched/carillon/scheduler/api/v1"
	"github.com/carillon-sched/carillon/scheduler/auth"
)

// Held lists the obstacles that keep jobs from running, and the operations that change many of them.
type Held struct {
	Paused   int            // jobs
	Disabled []string       // collections, by name
	Running  []v1.Operation // without their jobs and failures, oldest first
}

// Held returns the part that the caller may see, from the memory of this process: nothing before [Service.Run].
func (s *Service) Held(ctx context.Context) Held {
	sees := auth.Sees(ctx)
	h := Held{Paused: s.shared.index.Paused(sees)}
	s.shared.Collections.Each(func(c *scheduler.Collection) {
		if c.State == scheduler.Disabled && sees(c.Name) {
			h.Disabled = append(h.Disabled, c.Name)
		}
	})
	slices.Sort(h.Disabled)
	w := s.operator
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, op := range w.ready {
		if op.visible(ctx, auth.Read) {
			h.Running = append(h.Running, op.Operation)
		}
	}
	slices.SortFunc(h.Running, func(a, b v1.Operation) int { return strings.Compare(a.Created.String()+a.ID, b.Created.String()+b.ID) })
	return h
}
