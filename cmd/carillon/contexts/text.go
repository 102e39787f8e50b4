package contexts

import (
	"fmt"
	"slices"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// read takes over what a file says. The error repeats no token.
func (f *File) read(data []byte) error {
	file, err := document.ParseFile(data)
	if err != nil {
		return err
	}
	if len(file.Documents) != 1 {
		return fmt.Errorf("holds %d documents; one is expected", len(file.Documents))
	}
	r := document.NewReader()
	o := r.Object(file.Documents[0], "")
	f.Current, _ = o.String("current")
	f.Contexts = map[string]Context{}
	if v, ok := o.Value("contexts"); ok {
		f.readContexts(r, v)
	}
	o.Done()
	problems, _ := r.Err().(document.Problems) //nolint:errorlint // it returns nothing else
	if len(problems) == 0 {
		return nil
	}
	line, _ := file.Place(0, problems[0].Path)
	return fmt.Errorf("line %d: %w", line, problems[0])
}

// readContexts reads the contexts by their names.
func (f *File) readContexts(r *document.Reader, v document.Value) {
	if v.Kind() != document.KindObject {
		r.Problem("contexts", "must be an object, not %s", v.Kind())
	}
	for _, m := range v.Members() {
		if m.Value.Kind() == document.KindNull {
			f.Contexts[m.Name] = Context{}
			continue
		}
		o := r.Object(m.Value, "contexts."+m.Name)
		var c Context
		c.Server, _ = o.String("server")
		c.Collection, _ = o.String("collection")
		c.Token, _ = o.String("token")
		c.CA, _ = o.String("caFile")
		c.Cert, _ = o.String("certFile")
		c.Key, _ = o.String("keyFile")
		o.Done()
		f.Contexts[m.Name] = c
	}
}

// document is what the file says.
func (f *File) document() document.Value {
	contexts := document.ObjectValue()
	for _, name := range f.Names() {
		c := f.Contexts[name]
		contexts = document.ObjectValue(append(contexts.Members(), document.Member{Name: name, Value: texts(
			"server", c.Server, "collection", c.Collection, "token", c.Token, "caFile", c.CA, "certFile", c.Cert, "keyFile", c.Key,
		)})...)
	}
	all := document.Member{Name: "contexts", Value: contexts}
	return document.ObjectValue(append(slices.Clone(texts("current", f.Current).Members()), all)...)
}

// texts returns an object of the names and texts that follow each other, without those that are empty.
func texts(pairs ...string) document.Value {
	var members []document.Member
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			members = append(members, document.Member{Name: pairs[i], Value: document.StringValue(pairs[i+1])})
		}
	}
	return document.ObjectValue(members...)
}
