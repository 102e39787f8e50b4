package backup

import (
	"bytes"
	"context"
	"hash/maphash"
	"slices"

	"github.com/carillon-sched/carillon/scheduler"
)

// Store is what a backup is taken of, and what it is restored to. Package store implements it.
type Store interface {
	scheduler.Store

	// Tokens keeps access tokens, of which it has hashes.
	Tokens() scheduler.Bucket

	// FindDetached calls found for the batons of detached runs of jobs.
	FindDetached(ctx context.Context, keys []scheduler.Key, found func(slot scheduler.Slot, st scheduler.Stored, running bool)) error
}

// chunk is how many jobs are looked at together, and workers how many chunks at a time: the store answers some while others
// are read or written.
const (
	chunk   = 128
	workers = 4
)

// buckets are where what is no job lies.
func buckets(st Store, tokens bool) map[Kind]scheduler.Bucket {
	all := map[Kind]scheduler.Bucket{Collection: st.Collections(), Secret: st.Secrets()}
	if tokens {
		all[Token] = st.Tokens()
	}
	return all
}

// sealedText is what begins a sealed text in JSON, before the id of its key: see package seal.
var sealedText = [][]byte{[]byte(`"$sealed":"v1.`), []byte(`"sealed":"v1.`)}

// maxKeys is how many ids of keys are told.
const maxKeys = 64

// keysIn adds the ids of the keys that seal texts in data to those that are known, in their order.
func keysIn(data []byte, known []string) []string {
	for _, mark := range sealedText {
		for rest := data; ; {
			at := bytes.Index(rest, mark)
			if at < 0 {
				break
			}
			rest = rest[at+len(mark):]
			end := bytes.IndexByte(rest[:min(len(rest), 33)], '.')
			if end < 0 {
				continue
			}
			place, found := slices.BinarySearch(known, string(rest[:end]))
			if !found && len(known) < maxKeys {
				known = slices.Insert(known, place, string(rest[:end]))
			}
		}
	}
	return known
}

// names remembers which names were seen by their hashes, in eight bytes each: there may be a million. Two of a million names
// have one hash in one of thirty million files, and other ones when it is read again.
type names struct {
	seed maphash.Seed
	seen map[uint64]struct{}
}

func newNames() names { return names{maphash.MakeSeed(), map[uint64]struct{}{}} }

// add reports whether the name of a thing is new.
func (n *names) add(kind Kind, name string) bool {
	hash := maphash.String(n.seed, string(kind)+" "+name)
	if _, again := n.seen[hash]; again {
		return false
	}
	n.seen[hash] = struct{}{}
	return true
}
