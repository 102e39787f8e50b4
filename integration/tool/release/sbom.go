package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// bom returns the SBOM of a program in CycloneDX: the modules in its build information, with the checksums that
// the go command has verified, their licences and dependencies.
func (r *release) bom(b built) ([]byte, error) {
	main, err := r.mainComponent(b)
	if err != nil {
		return nil, err
	}
	components, err := b.components()
	if err != nil {
		return nil, err
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Timestamp: r.time.Format(time.RFC3339), Component: main}
	bom.Components = &components
	bom.Dependencies, err = b.graph(main, components)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	err = cdx.NewBOMEncoder(&text, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, cdx.SpecVersion1_6)
	return text.Bytes(), err
}

// mainComponent is the program.
func (r *release) mainComponent(b built) (*cdx.Component, error) {
	c, err := b.component(module, r.version, "")
	c.Type = cdx.ComponentTypeApplication
	c.PackageURL += fmt.Sprintf("?goos=%s&goarch=%s#cmd/carillon", b.target.os, b.target.arch)
	sum := sha256.Sum256(b.program)
	c.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum[:])}}
	c.Properties = &[]cdx.Property{{Name: "vcs.revision", Value: r.commit}, {Name: "go.version", Value: b.info.GoVersion}}
	return &c, err
}

// components are the standard library and the modules.
func (b built) components() ([]cdx.Component, error) {
	std, err := b.component(standard, strings.TrimPrefix(b.info.GoVersion, "go"), "")
	if err != nil {
		return nil, err
	}
	all := []cdx.Component{std}
	for _, m := range b.info.Deps {
		if m.Replace != nil {
			return nil, fmt.Errorf("%s is replaced, which a release may not have", m.Path)
		}
		c, err := b.component(m.Path, m.Version, m.Sum)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// component describes a module. sum is its checksum in go.sum.
func (b built) component(path, version, sum string) (cdx.Component, error) {
	purl := "pkg:golang/" + path + "@" + version
	c := cdx.Component{BOMRef: purl, Type: cdx.ComponentTypeLibrary, Name: path, Version: version, PackageURL: purl}
	ids, err := b.modules[path].licences()
	if err != nil {
		return c, err
	}
	var licences cdx.Licenses
	for _, id := range ids {
		licences = append(licences, cdx.LicenseChoice{License: &cdx.License{ID: id}})
	}
	c.Licenses = &licences
	if sum != "" {
		raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(sum, "h1:"))
		if err != nil {
			return c, fmt.Errorf("%s: sum %q: %w", path, sum, err)
		}
		c.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(raw)}}
	}
	return c, nil
}

// graph returns the dependencies of each component. It checks that the go command and the program's build
// information list the same modules.
func (b built) graph(main *cdx.Component, components []cdx.Component) (*[]cdx.Dependency, error) {
	refs := map[string]string{module: main.BOMRef}
	for _, c := range components {
		refs[c.Name] = c.BOMRef
	}
	if named, used := slices.Sorted(maps.Keys(refs)), slices.Sorted(maps.Keys(b.modules)); !slices.Equal(named, used) {
		return nil, fmt.Errorf("the program names the modules %v, and has packages of %v", named, used)
	}
	var graph []cdx.Dependency
	for _, path := range slices.Sorted(maps.Keys(refs)) {
		uses := []string{}
		for _, used := range b.modules[path].uses {
			uses = append(uses, refs[used])
		}
		graph = append(graph, cdx.Dependency{Ref: refs[path], Dependencies: &uses})
	}
	return &graph, nil
}
