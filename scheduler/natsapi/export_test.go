package natsapi

import (
	"time"
)

// AtLeisure has n overwrite all specs that may hold secrets, however long the
// disk takes for it.
func AtLeisure(n *Ingest) *Ingest {
	n.eraser.most, n.eraser.credit = time.Hour, time.Hour
	return n
}

// Subjects returns those of all endpoints, below <prefix>.api., and of all specs, below <prefix>.spec..
func Subjects() (requests, specs []string) {
	for _, e := range endpoints() {
		requests = append(requests, e.subject)
	}
	for _, verb := range verbs {
		specs = append(specs, verb+".*.*")
	}
	return requests, specs
}

// MaxTails is how many live tails a process serves.
const MaxTails = maxTails
