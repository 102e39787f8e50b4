// Package endpoint finds the address behind a name that a job gives, such as a
// Service Bus namespace or a storage account.
package endpoint

import "strings"

// Map says where names are. The zero Map knows none, so every name is where
// its service keeps it.
type Map struct {
	// ByName holds the endpoints of single names, in any letter case.
	ByName map[string]string

	// Default is the endpoint of every other name. {name} in it stands for
	// the name. Default: none.
	Default string
}

// Find returns the endpoint of a name, "" when the map has none.
func (m Map) Find(name string) string {
	e, ok := m.ByName[name]
	if !ok {
		for n, other := range m.ByName {
			if strings.EqualFold(n, name) {
				e, ok = other, true
			}
		}
	}
	if !ok {
		e = m.Default
	}
	return strings.ReplaceAll(e, "{name}", name)
}
