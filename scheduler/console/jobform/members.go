package jobform

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/scheduler/document"
	"github.com/carillon-sched/carillon/scheduler/schema"
)

// Member describes a field of a document, for completion.
type Member struct {
	Name     string    `json:"name,omitempty"` // "*": any name
	Kind     string    `json:"kind,omitempty"`
	Text     string    `json:"text,omitempty"`
	Default  string    `json:"default,omitempty"`
	Example  string    `json:"example,omitempty"`
	Words    []string  `json:"words,omitempty"` // valid values
	Required bool      `json:"required,omitempty"`
	List     bool      `json:"list,omitempty"`  // may be a list
	Types    []string  `json:"types,omitempty"` // types of the surrounding object that have the field; none: all
	Like     bool      `json:"like,omitempty"`  // same fields as the surrounding object
	Members  []*Member `json:"members,omitempty"`
}

// Members returns the description of a job as JSON: a [Member] without a name.
func (f *Form) Members() []byte {
	data, err := json.Marshal(&Member{Members: membersOf(f.shape.Members, "job")})
	if err != nil {
		return []byte("{}") // it contains texts only
	}
	return data
}

func membersOf(m *document.Members, path string) []*Member {
	if m == nil {
		return nil
	}
	var all []*Member
	for _, s := range m.Known {
		if _, shown := s.Form(document.FormAny); !shown {
			all = append(all, memberOf(s, path))
		}
	}
	if m.Free != nil {
		all = append(all, memberOf(m.Free, path))
	}
	for _, kind := range m.Kinds {
		for _, s := range kind.Members.Known {
			if _, shown := s.Form(document.FormAny); shown {
				continue
			}
			i := slices.IndexFunc(all, func(m *Member) bool { return m.Name == s.Name })
			if i < 0 {
				i, all = len(all), append(all, memberOf(s, path))
			}
			all[i].Types = append(all[i].Types, kind.Words...)
		}
	}
	kinds := 0
	for _, kind := range m.Kinds {
		kinds += len(kind.Words)
	}
	for _, one := range all {
		if len(one.Types) == kinds {
			one.Types = nil
		}
	}
	return all
}

func memberOf(s *document.Shape, around string) *Member {
	path := around + "." + s.Name
	d, _ := schema.Describe(path)
	m := &Member{Name: s.Name, Default: d.Default, Example: d.Example, Required: s.Required}
	m.Text = strings.TrimSpace(d.Text + " " + bounded(s))
	var kinds []string
	_, secret := s.Form(document.FormSecret)
	for _, f := range s.Forms {
		m.Words = append(m.Words, f.Words...)
		m.List = m.List || f.Kind == document.FormList
		switch {
		case secret && f.Kind == document.FormObject:
		case f.Of != document.FormNothing:
			kinds = append(kinds, f.Kind.String()+" of "+f.Of.String()+"s")
		default:
			kinds = append(kinds, f.Kind.String())
		}
		if f.Kind == document.FormBoolean && len(s.Forms) == 1 {
			m.Words = []string{"true", "false"}
		}
	}
	m.Kind = strings.Join(kinds, " or ")
	if s.Members != nil && s.Members.Recurs {
		m.Like = true
		return m
	}
	m.Members = membersOf(s.Members, path)
	return m
}

func bounded(s *document.Shape) string {
	if bounds := schema.Bounds(s); bounds != "" {
		return "(" + bounds + ")"
	}
	return ""
}
