package hostile

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// tally is what came of what was sent to one door.
type tally struct {
	door string

	mu      sync.Mutex
	sent    int
	answers map[string]int // by class: a status, or what happened to the connection
	slowest time.Duration
	worst   []byte   // the slowest request
	blames  []string // requests that the server took the blame for, a few
}

// add notes one request. blame is what it says when it is the server's fault.
func (t *tally) add(request []byte, class string, took time.Duration, blame string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.answers == nil {
		t.answers = map[string]int{}
	}
	t.sent++
	t.answers[class]++
	if took > t.slowest {
		t.slowest, t.worst = took, request
	}
	if blame != "" && len(t.blames) < 3 {
		t.blames = append(t.blames, fmt.Sprintf("%s %s: %q", class, blame, request))
	}
}

// String is a line of the table.
func (t *tally) String() string {
	var classes []string
	for _, c := range slices.Sorted(maps.Keys(t.answers)) {
		classes = append(classes, fmt.Sprintf("%s: %d", c, t.answers[c]))
	}
	return fmt.Sprintf("%-22s %7d tried, slowest %6.1f ms; %s", t.door, t.sent, t.slowest.Seconds()*1000, strings.Join(classes, ", "))
}
