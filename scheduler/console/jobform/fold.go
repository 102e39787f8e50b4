package jobform

import "slices"

// Filled reports whether the section has a value or a problem.
func (s *Section) Filled() bool {
	return slices.ContainsFunc(slices.Concat(s.Fields, s.More), func(f *Field) bool { return f.filled() || f.wrong() })
}
