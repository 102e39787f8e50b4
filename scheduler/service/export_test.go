package service

import "context"

// Turn is turn, for tests.
func (p Previewer) Turn(ctx context.Context) (done func(), err error) { return p.turn(ctx) }
