package node_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// dumpStreams keeps every message that the server has.
func (w *vaultWorld) dumpStreams() {
	w.t.Helper()
	streams := w.js.ListStreams(w.t.Context())
	for info := range streams.Info() {
		st := must.Get(w.js.Stream(w.t.Context(), info.Config.Name))(w.t)
		for seq := info.State.FirstSeq; seq <= info.State.LastSeq; seq++ {
			if m, err := st.GetMsg(w.t.Context(), seq); err == nil {
				w.dumps.add("stream "+info.Config.Name+" "+m.Subject, m.Subject+fmt.Sprint(m.Header)+string(m.Data))
			}
		}
	}
	if err := streams.Err(); err != nil {
		w.t.Error(err)
	}
}

// dumpFiles keeps every file of the data directory.
func (w *vaultWorld) dumpFiles() {
	w.t.Helper()
	must.Do(w.t, filepath.WalkDir(w.dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		w.dumps.add("file "+path, path+"\n"+string(data))
		return err
	}))
}

// forms are what a secret looks like where it was copied, quoted or encoded.
func forms(secret string) []string {
	quoted := string(marshaled(secret))
	all := []string{
		secret, quoted[1 : len(quoted)-1], url.QueryEscape(secret), url.PathEscape(secret), strings.ToLower(url.QueryEscape(secret)),
		hex.EncodeToString([]byte(secret)), strings.ToUpper(hex.EncodeToString([]byte(secret))), secret[:len(secret)/2], secret[len(secret)/2:],
	}
	for offset := range 3 { // wherever in an encoded text it begins
		data := append(make([]byte, offset), secret...)
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			text := encoding.EncodeToString(data)
			all = append(all, text[(offset*8+5)/6:len(data)*8/6])
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// marshaled returns a value as JSON.
func marshaled(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

// dumps is what was looked at.
type dumps struct {
	names, texts []string
}

func (d *dumps) add(name, text string) {
	d.names, d.texts = append(d.names, name), append(d.texts, text)
}

// has reports whether there is anything of a place.
func (d *dumps) has(place string) bool {
	return slices.ContainsFunc(d.names, func(name string) bool { return strings.HasPrefix(name, place) })
}

// places are where a text is.
func (d *dumps) places(text string) []string {
	var all []string
	for i, dump := range d.texts {
		if strings.Contains(dump, text) && !slices.Contains(all, d.names[i]) {
			all = append(all, d.names[i])
		}
	}
	return all
}

func (d *dumps) find(text string) int { return len(d.places(text)) }
