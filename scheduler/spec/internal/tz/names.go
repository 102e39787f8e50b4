package tz

import (
	_ "embed"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/carillon-sched/carillon/scheduler/spec/internal/spelling"
)

//go:generate go test -run TestZoneNamesAreThoseOfGo -update .

//go:embed zones.txt
var zonesText string

// zoneNames are the names of the time zone database, in order.
var zoneNames = sync.OnceValue(func() []string { return strings.Fields(zonesText) })

// Names returns the names that [Load] knows, in alphabetical order: the zones of the IANA time zone database and
// their older names.
func Names() []string { return slices.Clone(zoneNames()) }

// Suggest suggests a zone for an unknown name, "" if it has no suggestion. It recognizes other letter case or blanks,
// the name of a city, an abbreviation (preferring Java's meaning), a Windows zone name, and misspellings.
func Suggest(name string) string {
	if len(name) > 64 {
		return ""
	}
	if readings := ambiguousIDs[strings.ToUpper(name)]; readings != nil {
		return readings[0]
	}
	if upper := strings.ToUpper(name); upper != name {
		if _, ok := offsetOf(upper); ok {
			return upper
		}
	}
	folded := foldZone(name)
	if meant := zonesBySlang()[folded]; meant != "" {
		return meant
	}
	if meant := zonesByFold()[folded]; meant != "" {
		return meant
	}
	for i := range len(name) { // a prefix of another vendor: /citadel.org/20210210_1/Europe/Berlin
		if name[i] == '/' {
			if meant := zonesByFold()[foldZone(name[i+1:])]; meant != "" {
				return meant
			}
		}
	}
	if len(folded) < 4 {
		return ""
	}
	return zonesByFold()[spelling.Nearest(folded, zoneFolds())]
}

// zonesByFold maps folded names of zones and of their cities to zones.
var zonesByFold = sync.OnceValue(func() map[string]string {
	zones := map[string]string{}
	for _, name := range zoneNames() {
		city := name[strings.LastIndexByte(name, '/')+1:]
		if len(city) > 3 && city != name && !strings.HasPrefix(name, "Etc/") {
			if fold := foldZone(city); zones[fold] == "" {
				zones[fold] = name
			}
		}
	}
	for _, name := range zoneNames() { // whole names go before cities
		zones[foldZone(name)] = name
	}
	return zones
})

// zoneFolds holds the keys of zonesByFold, in order.
var zoneFolds = sync.OnceValue(func() []string {
	return slices.Sorted(maps.Keys(zonesByFold()))
})

// foldZone makes names equal that differ in letter case, blanks and punctuation. It retains the sign of an offset.
func foldZone(name string) string {
	var b strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case c >= 'A' && c <= 'Z':
			b.WriteByte(c + 'a' - 'A')
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			b.WriteByte(c)
		case (c == '+' || c == '-') && i+1 < len(name) && name[i+1] >= '0' && name[i+1] <= '9':
			b.WriteByte(c)
		}
	}
	return b.String()
}

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
