package backup

import (
	"bytes"
	"context"
	"hash/maphash"
	"slices"

	"github.com/carillon-sched/carillon/scheduler"
)

// Store is the source or target of a backup. Package store implements it.
type Store interface {
	scheduler.Store

	// Tokens returns the bucket with the hashes of access tokens.
	Tokens() scheduler.Bucket

	// FindDetached calls found for the batons of the jobs' detached runs.
	FindDetached(ctx context.Context, keys []scheduler.Key, found scheduler.FoundBaton) error
}

// chunk is the number of jobs per request; workers is the number of chunks in progress at a time.
const (
	chunk   = 128
	workers = 4
)

// buckets returns the buckets of all kinds except jobs.
func buckets(st Store, tokens bool) map[Kind]scheduler.Bucket {
	all := map[Kind]scheduler.Bucket{Collection: st.Collections(), Secret: st.Secrets(), Source: st.Sources()}
	if tokens {
		all[Token] = st.Tokens()
	}
	return all
}

// sealedText marks a sealed text in JSON; its key's id follows. See package seal.
var sealedText = [][]byte{[]byte(`"$sealed":"v1.`), []byte(`"sealed":"v1.`)}

// maxKeys is the maximum number of reported key ids.
const maxKeys = 64

// keysIn adds the ids of the keys that seal texts in data to the sorted list known.
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

// names is a set of names that stores 8-byte hashes, because a backup may have a million entries. For a million names,
// the probability of a collision is about 1 in 30 million. The seed differs for each read, so a retry succeeds.
type names struct {
	seed maphash.Seed
	seen map[uint64]struct{}
}

func newNames() names { return names{maphash.MakeSeed(), map[uint64]struct{}{}} }

// add reports whether the name is new.
func (n *names) add(kind Kind, name string) bool {
	hash := maphash.String(n.seed, string(kind)+" "+name)
	if _, again := n.seen[hash]; again {
		return false
	}
	n.seen[hash] = struct{}{}
	return true
}
