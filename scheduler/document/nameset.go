package document

// nameSet notices a name that comes twice in an object. Small objects, which nearly all are, compare names one by one;
// a map takes over where that would become quadratic.
type nameSet struct {
	large map[string]bool
}

const smallObject = 16

// add reports whether name is new beside the earlier members of its object.
func (s *nameSet) add(name string, earlier []Member) bool {
	if s.large == nil && len(earlier) < smallObject {
		for i := range earlier {
			if earlier[i].Name == name {
				return false
			}
		}
		return true
	}
	if s.large == nil {
		s.large = make(map[string]bool, 2*smallObject)
		for i := range earlier {
			s.large[earlier[i].Name] = true
		}
	}
	if s.large[name] {
		return false
	}
	s.large[name] = true
	return true
}
