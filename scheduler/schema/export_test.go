package schema

import (
	"maps"
	"slices"
)

// DescribedPaths are the ends of paths that there are descriptions of.
func DescribedPaths() []string {
	var all []string
	for _, table := range []map[string]Description{ofJobs, ofActions, ofCollections} {
		all = slices.AppendSeq(all, maps.Keys(table))
	}
	slices.Sort(all)
	return all
}
