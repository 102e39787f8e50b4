package jobform

import "slices"

// Filled reports whether the section has something to show: what was typed, or is wrong.
func (s *Section) Filled() bool {
	return slices.ContainsFunc(slices.Concat(s.Fields, s.More), func(f *Field) bool { return f.filled() || f.wrong() })
}
