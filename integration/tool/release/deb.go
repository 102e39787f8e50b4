package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
)

// settings is the file of the package that its users change, and that an upgrade leaves as it is.
const settings = "/etc/carillon/serve.yaml"

// deb builds the Debian package. Its installation starts nothing, because the NATS server is not configured yet.
func (r *release) deb(b built) ([]byte, error) {
	tree, err := r.debianTree(b)
	if err != nil {
		return nil, err
	}
	contents, err := r.stage(b.target, tree)
	if err != nil {
		return nil, err
	}
	scripts := filepath.Join(r.root, "integration", "tool", "release", "debian")
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "carillon", Arch: b.target.arch, Platform: "linux", Version: r.version, Section: "admin", Priority: "optional",
		Maintainer: maintainer, Homepage: "https://" + module, MTime: r.time,
		Description: "job scheduler on NATS JetStream\n" +
			"A job is a small JSON or YAML document: when to run, what to call, how to\n" +
			"retry. Carillon makes the call on time, and records how it went.",
		Overridables: nfpm.Overridables{
			Contents: contents, Suggests: []string{"nats-server (>= 2.12)"},
			Scripts: nfpm.Scripts{
				PostInstall: filepath.Join(scripts, "postinst"), PreRemove: filepath.Join(scripts, "prerm"),
				PostRemove: filepath.Join(scripts, "postrm"),
			},
			Deb: nfpm.Deb{Compression: "xz"},
		},
	})
	if err := nfpm.PrepareForPackager(info, "deb"); err != nil {
		return nil, err
	}
	var packed bytes.Buffer
	err = deb.Default.Package(info, &packed)
	return packed.Bytes(), err
}

// maintainer is the maintainer of the package.
const maintainer = "Carillon <carillon@users.noreply.github.com>"

// debianTree returns the files of the package, by path.
func (r *release) debianTree(b built) (map[string]file, error) {
	licences, err := b.licenceTexts()
	if err != nil {
		return nil, err
	}
	const doc = "/usr/share/doc/carillon/"
	tree := map[string]file{
		"/usr/bin/carillon": {b.program, 0o755},
		"/usr/share/bash-completion/completions/carillon":    {r.kit.completions["carillon.bash"], 0o644},
		"/usr/share/zsh/vendor-completions/_carillon":        {r.kit.completions["_carillon"], 0o644},
		"/usr/share/fish/vendor_completions.d/carillon.fish": {r.kit.completions["carillon.fish"], 0o644},
		"/usr/share/man/man1/carillon.1.gz":                  {squeezed(r.kit.manual), 0o644},
		doc + "LICENSES.txt.gz":                              {squeezed(licences), 0o644},
		doc + "changelog.gz":                                 {squeezed(r.changelog()), 0o644},
	}
	placed := map[string]string{
		"examples/systemd/carillon.service":         "/usr/lib/systemd/system/carillon.service",
		"examples/serve/serve.yaml":                 settings,
		"integration/tool/release/debian/copyright": doc + "copyright",
		"integration/tool/release/debian/overrides": "/usr/share/lintian/overrides/carillon",
	}
	for _, name := range r.files {
		to, ok := placed[name]
		if below, example := strings.CutPrefix(name, "examples/"); !ok && example && filepath.Ext(name) != ".go" {
			to, ok = doc+"examples/"+below, true
		}
		if !ok {
			continue
		}
		data, err := r.read(name)
		if err != nil {
			return nil, err
		}
		tree[to] = file{data, 0o644}
	}
	return tree, nil
}

// changelog is what Debian's tools want to find: one entry, for the version.
func (r *release) changelog() []byte {
	return fmt.Appendf(nil, "carillon (%s) unstable; urgency=medium\n\n  * Release %s, of commit %s.\n\n -- %s  %s\n",
		debianVersion(r.number()), r.version, r.commit, maintainer, r.time.Format(time.RFC1123Z))
}

// debianVersion sorts what leads to a release before it.
func debianVersion(number string) string { return strings.Replace(number, "-", "~", 1) }

// squeezed compresses a file as Debian has its documents.
func squeezed(data []byte) []byte {
	var buffer bytes.Buffer
	w, _ := gzip.NewWriterLevel(&buffer, gzip.BestCompression) // which is a level
	_, _ = w.Write(data)                                       // a buffer takes everything
	_ = w.Close()
	return buffer.Bytes()
}

// stage writes a tree to the working folder, where the packager reads it.
func (r *release) stage(t target, tree map[string]file) (files.Contents, error) {
	var contents files.Contents
	for i, to := range slices.Sorted(maps.Keys(tree)) {
		from := filepath.Join(r.work, fmt.Sprintf("deb-%s-%d", t.arch, i))
		if err := os.WriteFile(from, tree[to].data, 0o600); err != nil {
			return nil, err
		}
		c := &files.Content{
			Source: from, Destination: to,
			FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: tree[to].mode, MTime: r.time},
		}
		if to == settings {
			c.Type = files.TypeConfigNoReplace
		}
		contents = append(contents, c)
	}
	return contents, nil
}
