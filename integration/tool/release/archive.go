package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A file is one of an archive.
type file struct {
	data []byte
	mode os.FileMode // 0o644 or 0o755
}

// content returns the content of a target's archive, by path.
func (r *release) content(b built) (map[string]file, error) {
	files := map[string]file{
		b.target.program(): {b.program, 0o755},
		"man/carillon.1":   {r.kit.manual, 0o644},
	}
	for name, text := range r.kit.completions {
		files["completions/"+name] = file{text, 0o644}
	}
	for _, name := range r.files {
		example := strings.HasPrefix(name, "examples/") && !strings.HasSuffix(name, "_test.go")
		if name != "LICENSE" && name != "README.md" && !example {
			continue
		}
		data, err := r.read(name)
		if err != nil {
			return nil, err
		}
		if name == "README.md" {
			data = absolute(data, r.version)
		}
		files[name] = file{data, 0o644}
	}
	licences, err := b.licenceTexts()
	files["LICENSES.txt"] = file{licences, 0o644}
	return files, err
}

var relativeLink = regexp.MustCompile(`\]\(([^):#]+)`)

// absolute rewrites links of the README to the repository, because the archive does not contain the pages.
func absolute(readme []byte, version string) []byte {
	return relativeLink.ReplaceAll(readme, []byte("](https://"+module+"/blob/"+version+"/$1"))
}

// tarred is a compressed tar archive of a folder.
func tarred(folder string, files map[string]file, at time.Time) ([]byte, error) {
	var buffer bytes.Buffer
	z, err := gzip.NewWriterLevel(&buffer, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(z)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f := files[name]
		header := &tar.Header{
			Name: path.Join(folder, name), Mode: int64(f.mode), Size: int64(len(f.data)), ModTime: at,
			Typeflag: tar.TypeReg, Format: tar.FormatUSTAR, Uname: "root", Gname: "root",
		}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	err = z.Close()
	return buffer.Bytes(), err
}

// zipped is a zip archive of a folder.
func zipped(folder string, files map[string]file, at time.Time) ([]byte, error) {
	var buffer bytes.Buffer
	w := zip.NewWriter(&buffer)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		header := &zip.FileHeader{Name: path.Join(folder, name), Method: zip.Deflate, Modified: at}
		header.SetMode(files[name].mode)
		entry, err := w.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := entry.Write(files[name].data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return buffer.Bytes(), err
}

// writeAll writes files to a folder and returns their names.
func writeAll(dir string, files map[string][]byte) ([]string, error) {
	names := slices.Sorted(maps.Keys(files))
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), files[name], 0o644); err != nil { //nolint:gosec // releases are public
			return nil, err
		}
	}
	return names, nil
}

// sums is the file with the checksums, as sha256sum --check reads it.
const sums = "SHA256SUMS"

// sum writes the checksums of all files of the release.
func (r *release) sum() error {
	entries, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, entry := range entries {
		data, err := os.ReadFile(filepath.Join(r.out, entry.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "%x  %s\n", sha256.Sum256(data), entry.Name())
	}
	return os.WriteFile(filepath.Join(r.out, sums), []byte(text.String()), 0o644) //nolint:gosec // releases are public
}
