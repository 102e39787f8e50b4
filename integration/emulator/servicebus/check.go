package servicebus

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/carillon-sched/carillon/integration/emulator/servicebus/internal/broker"
)

// names are those that are taken, in lower case, with the path of whatever has them.
type names map[string]string

// take takes a name, or reports who has it.
func (n names) take(d *decoding, path, name string) {
	if name == "" {
		return // reported already
	}
	if first, ok := n[strings.ToLower(name)]; ok {
		d.problem(path+".Name", fmt.Errorf("%q exists: %s", name, first))
		return
	}
	n[strings.ToLower(name)] = path
}

// A forwarding is from one entity to another.
type forwarding struct {
	path string // of the field
	from string // the queue's name, or ""
	to   string
}

// lock reads a lock duration.
func (d *decoding) lock(path, text string) time.Duration {
	length := d.duration(path, text)
	if length > broker.MaxLockDuration {
		d.problem(path, fmt.Errorf("%q is longer than PT5M", text))
	}
	return length
}

// forward notes where an entity forwards to.
func (d *decoding) forward(at, from string, p configProperties) {
	for _, f := range []forwarding{
		{at + "ForwardTo", from, p.ForwardTo},
		{at + "ForwardDeadLetteredMessagesTo", from, p.ForwardDeadLetteredMessagesTo},
	} {
		if f.to != "" {
			d.forwardings = append(d.forwardings, f)
		}
	}
}

// checkForwardings reports those that lead nowhere, or back at once.
func (d *decoding) checkForwardings(taken names) {
	for _, f := range d.forwardings {
		name := broker.TargetName(f.to)
		switch _, ok := taken[strings.ToLower(name)]; {
		case strings.EqualFold(name, f.from):
			d.problem(f.path, errors.New("an entity cannot forward to itself"))
		case !ok:
			d.problem(f.path, fmt.Errorf("there is no queue or topic %q", name))
		}
	}
}
