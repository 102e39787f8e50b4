package main

import (
	"context"
	"errors"
	"time"
)

// killPatience is how long the calls may take that the killed one leaves to the other.
const killPatience = 3 * time.Minute

// kill lets a herd fall due for two schedulers and kills one in the middle of it.
func kill(ctx context.Context, b *bench) (_ []part, err error) {
	st, err := b.newStage(ctx)
	if err != nil {
		return nil, err
	}
	defer st.close()
	victim, err := startServe(ctx, st.files.carillon, st.dir, st.engine.url, st.key, st.serveArgs()...)
	if err != nil {
		return nil, err
	}
	victim.name = "victim" // its costs, which end with it, are not counted
	st.adopt(victim.process)
	sys, err := st.startSystem(ctx, newTarget(st.sink))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, sys.close()) }()

	h := st.herdOf(orderCarillon, sys, newTarget(st.sink))
	h.patience = killPatience
	var killed killing
	ended := make(chan error, 1)
	watch, stop := context.WithCancel(ctx)
	defer stop()
	go func() { ended <- killed.run(watch, h, victim) }()
	p, err := h.measure(ctx)
	stop() // it has been done, unless measure has failed
	if err = errors.Join(err, <-ended); err != nil {
		return nil, err
	}
	p.figures = append(p.figures,
		figure{"killed_s", killed.at.Sub(h.calendar.first).Seconds()},
		figure{"killed_arrived", float64(killed.arrived)})
	return []part{p}, nil
}

// killing is when the scheduler was killed.
type killing struct {
	at      time.Time
	arrived int // calls, just before
}

// run kills the victim once as many calls have arrived as is asked for.
func (k *killing) run(ctx context.Context, h *herdRun, victim *serving) error {
	if err := sleep(ctx, h.calendar.first); err != nil {
		return err
	}
	enough := int(h.killAt * float64(h.n))
	err := await(ctx, h.calendar.first.Add(patience), func() bool {
		k.arrived = h.arrived()
		return k.arrived >= enough
	})
	if err != nil {
		return err
	}
	if err := victim.alive(); err != nil {
		return err
	}
	k.at = time.Now()
	victim.kill()
	return nil
}
