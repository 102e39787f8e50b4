package plainxml

import "testing"

func TestPlain(t *testing.T) {
	for document, want := range map[string]string{
		`<a>&#34;&#39;&#xA;&#x9;</a>`:        "<a>\"'\n\t</a>",
		`<a b="&#34;&#39;&gt;&#xA;">&#34;`:   `<a b="&#34;&#39;&gt;&#xA;">"`,
		`<a>&amp;#39;&lt;&gt;&amp;&#xD;</a>`: `<a>&amp;#39;&lt;&gt;&amp;&#xD;</a>`,
		`<a></a><b>&#3`:                      `<a></a><b>&#3`,
	} {
		if got := string(plain([]byte(document))); got != want {
			t.Errorf("%s: %s, want %s", document, got, want)
		}
	}
}
