package tz

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed slang.txt
var slangText string

// zonesBySlang returns the zones by what people and Windows call them, folded. An abbreviation with several meanings has
// the one with the most people.
var zonesBySlang = sync.OnceValue(func() map[string]string {
	zones := map[string]string{}
	for line := range strings.Lines(slangText) {
		zone, names, _ := strings.Cut(line, " ")
		for name := range strings.FieldsSeq(names) {
			zones[name] = zone
		}
	}
	return zones
})
