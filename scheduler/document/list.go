package document

// Array returns the elements of a member that is an array. [Object.Element] gives their paths.
func (o *Object) Array(name string) ([]Value, bool) {
	v, ok := o.of(name, KindArray)
	return v.items, ok
}

// Element returns the path of the element i of the array name.
func (o *Object) Element(name string, i int) string { return element(o.Path(name), i) }

// Strings returns a member that is an array of strings.
func (o *Object) Strings(name string) ([]string, bool) {
	o.wants(name, Form{Kind: FormList, Of: FormText})
	return elements(o, name, func(v Value, at spot) (string, bool) {
		if v.kind != KindString {
			o.reader.mismatch(at, KindString, v)
		}
		return v.text, v.kind == KindString
	})
}

// Ints returns a member that is an array of whole numbers, each in minimum…maximum.
func (o *Object) Ints(name string, minimum, maximum int64) ([]int, bool) {
	o.wants(name, Form{Kind: FormList, Of: FormInteger, Least: minimum, Most: maximum})
	return elements(o, name, func(v Value, at spot) (int, bool) {
		n, ok := o.reader.integer(v, at, minimum, maximum)
		return int(n), ok
	})
}

// Enums returns a member that is an array of the allowed words, spelled as given here.
func (o *Object) Enums(name string, allowed ...string) ([]string, bool) {
	o.wants(name, Form{Kind: FormList, Of: FormWord}, allowed...)
	words, ok := elements(o, name, func(v Value, at spot) (string, bool) {
		return o.reader.word(v, at, allowed)
	})
	if items, _ := o.Array(name); ok {
		for i, word := range words {
			items[i] = StringValue(word) // as Enum does
		}
	}
	return words, ok
}

// Objects returns a member that is an array of objects. Call Done on each.
func (o *Object) Objects(name string) ([]*Object, bool) {
	o.wants(name, Form{Kind: FormList, Of: FormObject})
	if o.shape != nil {
		inner, ok := o.described(name)
		if !ok {
			return nil, false
		}
		return []*Object{inner}, true
	}
	return elements(o, name, func(v Value, at spot) (*Object, bool) {
		inner := o.reader.object(v, at)
		return inner, !inner.broken
	})
}

// StringMap returns a member that is an object whose members are all strings. Its names keep their letter case.
func (o *Object) StringMap(name string) (map[string]string, bool) {
	o.wants(name, Form{Kind: FormObject, Of: FormText})
	v, ok := o.of(name, KindObject)
	if !ok {
		return nil, false
	}
	texts := make(map[string]string, len(v.members))
	for _, m := range v.members {
		if m.Value.kind != KindString {
			o.reader.mismatch(spot{name: member(o.Path(name), m.Name)}, KindString, m.Value)
			ok = false
		}
		texts[m.Name] = m.Value.text
	}
	return texts, ok
}

// elements reads the array name with read, which reports what is wrong. All elements are read; one wrong element makes
// the whole wrong.
func elements[T any](o *Object, name string, read func(v Value, at spot) (T, bool)) ([]T, bool) {
	items, ok := o.Array(name)
	if !ok {
		return nil, false
	}
	list := make([]T, 0, len(items))
	for i, item := range items {
		element, right := read(item, spot{o, name, i})
		list = append(list, element)
		ok = ok && right
	}
	return list, ok
}
