package control

import "context"

// NewPreviewer returns one that computes so many previews at once as that of a [Service].
func NewPreviewer() Previewer { return Previewer{queue: newQueue(few())} }

// Turn is takeTurn, for tests.
func (p Previewer) Turn(ctx context.Context) (done func(), err error) { return p.takeTurn(ctx) }
