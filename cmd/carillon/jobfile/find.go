package jobfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Stdin is the path that stands for standard input.
const Stdin = "-"

// Find returns the files that paths name, each once: a file as it is, whatever
// it is called, and of a directory all *.json, *.yaml and *.yml below it, in
// order of name, hidden ones left out.
func Find(paths []string) (files []string, problems []Problem) {
	for _, path := range paths {
		found, err := find(path)
		if err != nil {
			problems = append(problems, unread(path, err))
			continue
		}
		for _, f := range found {
			if !slices.Contains(files, f) {
				files = append(files, f)
			}
		}
	}
	return files, problems
}

func find(path string) ([]string, error) {
	if path == Stdin {
		return []string{Stdin}, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var files []string
	err = filepath.WalkDir(path, func(p string, e fs.DirEntry, err error) error {
		hidden := p != path && strings.HasPrefix(e.Name(), ".")
		switch {
		case err != nil:
			return err
		case hidden && e.IsDir():
			return fs.SkipDir
		case !hidden && !e.IsDir() && HasName(p):
			files = append(files, p)
		}
		return nil
	})
	if err == nil && len(files) == 0 {
		err = errors.New("holds no job files (*.json, *.yaml, *.yml)")
	}
	return files, err
}

// HasName reports whether a file is called as job files are.
func HasName(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".json", ".yaml", ".yml":
		return true
	}
	return false
}
