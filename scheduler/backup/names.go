package backup

import "hash/maphash"

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
