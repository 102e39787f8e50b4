package index

import (
	"bytes"
	"maps"
	"sort"
	"strings"

	"github.com/carillon-sched/carillon/scheduler"
)

// texts looks for a text in what jobs are found by: their names, labels and targets. Labels and targets are looked through
// once for all jobs that have them, and the names of a block in one go.
type texts struct {
	x    *Index
	text string // folded

	inherits  func(collection string) map[string]string // the labels that a collection gives to its jobs; nil: none does
	of        *shelf
	inherited map[string]string // the labels of its collection with the text

	labels  *labels
	sets    []verdict // of labels, that were looked through: 1 + the verdict
	targets *targets
	renamed int
	sent    []verdict // targets, likewise

	collection, name string // where the text has one slash: the end of a collection and the beginning of a name
	slash            bool

	block  *block                   // whose names were looked through
	hit    [blockMost/64 + 1]uint64 // names of the block that have the text
	folded []byte
}

func newTexts(x *Index, q *scheduler.JobQuery) *texts {
	t := &texts{x: x, text: scheduler.FoldText(q.Text), inherits: q.Inherited}
	t.collection, t.name, t.slash = strings.Cut(t.text, "/")
	return t
}

// prepare takes in what may have changed since the lock was held last.
func (t *texts) prepare() {
	t.block = nil
	if t.labels != t.x.labels {
		t.labels, t.sets = t.x.labels, nil
	}
	if t.targets != t.x.targets || t.renamed != t.x.targets.renamed {
		t.targets, t.renamed, t.sent = t.x.targets, t.x.targets.renamed, nil
	}
	t.sets = append(t.sets, make([]verdict, len(t.labels.sets)-len(t.sets))...)
	t.sent = append(t.sent, make([]verdict, len(t.targets.texts)-len(t.sent))...)
}

// tell reports whether a job has the text.
func (t *texts) tell(of *shelf, b *block, i int) bool {
	if t.block != b {
		t.enter(of, b)
	}
	r := &b.recs[i]
	return t.hit[i/64]&(1<<(i%64)) != 0 || t.labelled(r.labels) || t.targeted(r.target) || t.inheritedBy(of, r.labels)
}

// inheritedBy reports whether a job of a collection inherits a label with the text: it has none of that name itself.
func (t *texts) inheritedBy(of *shelf, set uint32) bool {
	if t.of != of && t.inherits != nil {
		t.of, t.inherited = of, maps.Clone(t.inherits(of.collection))
		maps.DeleteFunc(t.inherited, func(name, value string) bool {
			return !strings.Contains(scheduler.FoldText(name+"="+value), t.text)
		})
	}
	for name := range t.inherited {
		if _, own := t.labels.get(set, name); !own {
			return true
		}
	}
	return false
}

func (t *texts) labelled(set uint32) bool {
	if t.sets[set] == 0 {
		t.sets[set] = 1 + no
		for _, l := range t.labels.of(set) {
			if strings.Contains(scheduler.FoldText(l.Name+"="+l.Value), t.text) {
				t.sets[set] = 1 + may
			}
		}
	}
	return t.sets[set] == 1+may
}

func (t *texts) targeted(n uint32) bool {
	if t.sent[n] == 0 {
		t.sent[n] = 1 + no
		if n != 0 && strings.Contains(scheduler.FoldText(t.targets.texts[n]), t.text) {
			t.sent[n] = 1 + may
		}
	}
	return t.sent[n] == 1+may
}

// enter looks through the names of a block, which are ASCII.
func (t *texts) enter(of *shelf, b *block) {
	t.block, t.hit = b, [len(t.hit)]uint64{}
	t.folded = appendFolded(t.folded[:0], b.names)
	if t.slash {
		if strings.HasSuffix(scheduler.FoldText(of.collection), t.collection) {
			for i := range b.recs {
				if bytes.HasPrefix(t.folded[b.begin(i):b.recs[i].end], []byte(t.name)) {
					t.hit[i/64] |= 1 << (i % 64)
				}
			}
		}
		return
	}
	text := []byte(t.text)
	for at := 0; at < len(t.folded); {
		found := bytes.Index(t.folded[at:], text)
		if found < 0 {
			return
		}
		at += found
		i := sort.Search(len(b.recs), func(i int) bool { return int(b.recs[i].end) > at })
		end := int(b.recs[i].end)
		if at+len(text) > end { // it goes over into the next name
			at++
			continue
		}
		t.hit[i/64] |= 1 << (i % 64)
		at = end
	}
}

// appendFolded appends names without differences of letter case.
func appendFolded(to, names []byte) []byte {
	to = append(to, names...)
	for i, c := range to {
		to[i] = lower[c]
	}
	return to
}

// lower are the bytes with small letters for large ones.
var lower = func() (bytes [256]byte) {
	for i := range bytes {
		bytes[i] = byte(i)
	}
	for c := 'A'; c <= 'Z'; c++ {
		bytes[c] = byte(c + 'a' - 'A')
	}
	return bytes
}()
