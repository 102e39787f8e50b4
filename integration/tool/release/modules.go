package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// usedModule is a module that the program has code of.
type usedModule struct {
	dir  string   // its source, with its licence
	uses []string // paths of the modules that its packages import, sorted
}

// standard is the path that the standard library goes by in a list of modules.
const standard = "std"

// listed is a package as the go command lists it.
type listed struct {
	ImportPath string            `json:"ImportPath"`
	Standard   bool              `json:"Standard"`
	Root       string            `json:"Root"`
	Imports    []string          `json:"Imports"`
	ImportMap  map[string]string `json:"ImportMap"`
	Module     *struct {
		Path string `json:"Path"`
		Dir  string `json:"Dir"`
	} `json:"Module"`
}

// owner is the module that a package belongs to, and where its source is.
func (p listed) owner() (path, dir string) {
	if p.Standard || p.Module == nil {
		return standard, p.Root
	}
	return p.Module.Path, p.Module.Dir
}

// usedModules asks which packages the program for a target has, and folds them into their modules.
func (r *release) usedModules(ctx context.Context, t target) (map[string]usedModule, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-mod=readonly",
		"-json=ImportPath,Standard,Root,Imports,ImportMap,Module", "./cmd/carillon")
	cmd.Dir, cmd.Env = r.root, environment(t)
	out, err := finish(cmd)
	if err != nil {
		return nil, err
	}
	var packages []listed
	for decoder := json.NewDecoder(strings.NewReader(out)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return fold(packages), nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		packages = append(packages, p)
	}
}

// fold makes a graph of modules of one of packages.
func fold(packages []listed) map[string]usedModule {
	owners := map[string]string{}
	modules := map[string]usedModule{}
	for _, p := range packages {
		path, dir := p.owner()
		owners[p.ImportPath] = path
		modules[path] = usedModule{dir: dir}
	}
	for _, p := range packages {
		from := owners[p.ImportPath]
		m := modules[from]
		for _, imported := range p.Imports {
			if to := owners[imported]; to != "" && to != from && !slices.Contains(m.uses, to) {
				m.uses = append(m.uses, to)
			}
		}
		slices.Sort(m.uses)
		modules[from] = m
	}
	return modules
}

// licenceFiles are those that say under which terms a module may be used, sorted.
func (m usedModule) licenceFiles() ([]string, error) {
	var files []string
	for _, pattern := range []string{"LICEN[SC]E*", "COPYING*", "NOTICE*"} {
		found, err := filepath.Glob(filepath.Join(m.dir, pattern))
		if err != nil {
			return nil, err
		}
		for _, file := range found {
			if !slices.Contains([]string{".go", ".docs", ".json"}, filepath.Ext(file)) {
				files = append(files, file)
			}
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s has no licence", m.dir)
	}
	return files, nil
}
