package frame

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
)

//go:embed assets
var ownAssets embed.FS

// assets are the scripts and styles of all sections, by section/name. Their URLs contain a hash of their content, so browsers
// cache them forever.
type assets map[string]*asset

type asset struct {
	kind    string
	hash    string
	data    []byte
	smaller []byte // compressed with gzip
}

// gather reads the assets of the sections.
func (f *Frame) gather() assets {
	all := assets{}
	add := func(section string, files fs.FS) {
		err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := fs.ReadFile(files, name)
			all[section+"/"+path.Base(name)] = newAsset(name, data)
			return err
		})
		if err != nil {
			panic(fmt.Sprintf("console: assets of %s: %v", section, err))
		}
	}
	add("frame", ownAssets)
	style, font := all["frame/console.css"], all["frame/inter.woff2"]
	url := []byte(Root + "/assets/" + font.hash + "/frame/inter.woff2")
	all["frame/console.css"] = newAsset("console.css", bytes.Replace(style.data, []byte("inter.woff2"), url, 1))
	for _, section := range f.cfg.Sections {
		if section.Assets != nil {
			add(section.Name, section.Assets)
		}
	}
	for name, one := range all {
		addresses.Store(name, Root+"/assets/"+one.hash+"/"+name)
	}
	return all
}

// addresses are the URLs of assets by name, for templates. They depend on the program only, so all consoles of a process
// share them.
var addresses sync.Map

// address returns the URL of an asset.
func address(name string) (string, error) {
	at, ok := addresses.Load(name)
	if !ok {
		return "", fmt.Errorf("there is no asset %s", name)
	}
	return at.(string), nil
}

// kinds are the media types of assets, independent of the machine's.
var kinds = map[string]string{
	".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml", ".woff2": "font/woff2",
}

func newAsset(name string, data []byte) *asset {
	sum := sha256.Sum256(data)
	kind := cmp.Or(kinds[path.Ext(name)], mime.TypeByExtension(path.Ext(name)))
	a := &asset{kind: kind, hash: hex.EncodeToString(sum[:8]), data: data}
	if z := zipped(data); len(z) < len(data) {
		a.smaller = z
	}
	return a
}

// serve answers with an asset.
func (all assets) serve(c *Request) error {
	a := all[c.Request.PathValue("path")]
	if a == nil {
		return Problem{Status: http.StatusNotFound, Text: c.Text("frame.nothing", c.Request.URL.Path)}
	}
	h := c.Writer.Header()
	h.Set("Content-Type", a.kind)
	h.Set("Vary", "Accept-Encoding")
	h.Set("ETag", `"`+a.hash+`"`)
	if c.Request.PathValue("version") == a.hash {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	body := a.data
	if a.smaller != nil && takesGzip(c.Request) {
		h.Set("Content-Encoding", "gzip")
		body = a.smaller
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	c.Writer.WriteHeader(http.StatusOK)
	_, _ = c.Writer.Write(body)
	return nil
}

// compressed compresses a body if the browser supports that and the body is large enough. Pages contain no secrets, so
// their compressed length reveals none (BREACH).
func compressed(h http.Header, r *http.Request, body []byte) []byte {
	if len(body) < 1400 || !takesGzip(r) {
		return body
	}
	h.Set("Content-Encoding", "gzip")
	return zipped(body)
}

func takesGzip(r *http.Request) bool {
	for one := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		if name, q, _ := strings.Cut(strings.TrimSpace(one), ";"); name == "gzip" {
			return strings.TrimSpace(q) != "q=0"
		}
	}
	return false
}

var zippers = sync.Pool{New: func() any {
	z, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	return z
}}

func zipped(data []byte) []byte {
	z := zippers.Get().(*gzip.Writer) //nolint:forcetypeassert // it has nothing else
	defer zippers.Put(z)
	var out bytes.Buffer
	z.Reset(&out)
	_, _ = z.Write(data) // a buffer accepts all writes
	_ = z.Close()
	return out.Bytes()
}
