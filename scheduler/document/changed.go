package document

// ChangedPaths returns where two trees differ, as paths in document order, those that only the second one has last; no more
// than most. What stands there is not told, so that it may be a secret. Of an object or array that only one of them has,
// it is the path of the whole.
func ChangedPaths(before, after Value, most int) []string {
	c := changes{most: most}
	c.compare("", before, after)
	return c.paths
}

type changes struct {
	most  int
	paths []string
}

func (c *changes) add(path string) {
	if len(c.paths) < c.most {
		c.paths = append(c.paths, path)
	}
}

func (c *changes) compare(path string, before, after Value) {
	switch {
	case len(c.paths) == c.most:
	case before.kind != after.kind, before.kind != KindObject && before.kind != KindArray:
		if !before.Equal(after) {
			c.add(path)
		}
	case before.kind == KindArray:
		c.compareItems(path, before.items, after.items)
	default:
		c.compareMembers(path, before, after)
	}
}

func (c *changes) compareItems(path string, before, after []Value) {
	if len(before) != len(after) {
		c.add(path)
		return
	}
	for i := range before {
		c.compare(element(path, i), before[i], after[i])
	}
}

func (c *changes) compareMembers(path string, before, after Value) {
	for _, m := range before.members {
		if other, ok := after.Member(m.Name); ok {
			c.compare(member(path, m.Name), m.Value, other)
		} else {
			c.add(member(path, m.Name))
		}
	}
	for _, m := range after.members {
		if _, ok := before.Member(m.Name); !ok {
			c.add(member(path, m.Name))
		}
	}
}
