package document_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/carillon-sched/carillon/scheduler/document"
)

// TestRestored brings secrets back to a document that was shown without them.
func TestRestored(t *testing.T) {
	v := parse(t, `{"list": [{"type": "a", "key": "s0"}, {"type": "b", "inner": {"key": "s1", "other": 1}, "only": {"key": "s2"}}], "key": "s3"}`)
	r := document.NewReader()
	o := r.Object(v, "")
	elements, _ := o.Objects("list")
	for _, inner := range elements {
		inner.Secret("key")
		for _, name := range []string{"inner", "only"} {
			if in, ok := inner.Object(name); ok {
				in.Secret("key")
			}
		}
	}
	o.Secret("key")
	all := []string{"list[0].key", "list[1].inner.key", "list[1].only.key", "key"}
	for _, test := range []struct {
		next, want string // want: the paths of secrets
		keep       []string
	}{
		{`{"list": [{"type": "a"}, {"type": "b", "inner": {}}]}`, "list[0].key list[1].inner.key list[1].only.key key", all},
		{`{"list": [{"type": "a"}, {"type": "b", "inner": {}}]}`, "list[0].key", all[:1]},
		{`{"list": [{"type": "b"}, {"type": "b", "inner": {"key": null}}]}`, "list[1].only.key", all[:3]},
		{`{"list": [{"type": "a", "KEY": "typed"}]}`, "", all[:3]},
		{`{"list": [], "key": null}`, "", all},
		{`{"list": 5}`, "", all[:3]},
	} {
		got := v.Restored("", parse(t, test.next), func(path string) bool { return slices.Contains(test.keep, path) })
		paths, _ := got.SecretPaths()
		if joined := strings.Join(paths, " "); joined != test.want {
			t.Errorf("%s: secrets at %q, want %q", test.next, joined, test.want)
		}
	}
}
