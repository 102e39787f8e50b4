package backup

import "hash/maphash"

// names remembers which names were seen, in 16 bytes each: there may be a million. Nobody who writes a file knows the seeds,
// so two names are taken for one no more often than by chance, once in 10^26 files of a million names.
type names struct {
	seeds [2]maphash.Seed
	seen  map[[2]uint64]struct{}
}

func newNames() names {
	return names{[2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, map[[2]uint64]struct{}{}}
}

// add reports whether the name of a thing is new.
func (n *names) add(kind Kind, name string) bool {
	text := string(kind) + " " + name
	hash := [2]uint64{maphash.String(n.seeds[0], text), maphash.String(n.seeds[1], text)}
	if _, again := n.seen[hash]; again {
		return false
	}
	n.seen[hash] = struct{}{}
	return true
}
