package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// bomOf reads the list of what is in the program of this machine.
func bomOf(t *testing.T) []byte {
	t.Helper()
	name := strings.Join([]string{"carillon", "0.1.0", here.os, here.arch}, "_") + ".cdx.json"
	data, err := os.ReadFile(filepath.Join(releaseDir(t), name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestBomSchema checks it by the schema of CycloneDX, which the module that writes it comes with.
func TestBomSchema(t *testing.T) {
	dir, err := output(t.Context(), ".", "go", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go")
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	for url, file := range map[string]string{
		"http://cyclonedx.org/schema/bom-1.6.schema.json":  "bom-1.6.schema.json",
		"http://cyclonedx.org/schema/spdx.schema.json":     "spdx.schema.json",
		"http://cyclonedx.org/schema/jsf-0.82.schema.json": "jsf-0.82.schemax.json",
	} {
		data, err := os.ReadFile(filepath.Join(strings.TrimSpace(dir), "schema", file))
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if err := compiler.AddResource(url, doc); err != nil {
			t.Fatal(err)
		}
	}
	schema, err := compiler.Compile("http://cyclonedx.org/schema/bom-1.6.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	good, err := jsonschema.UnmarshalJSON(bytes.NewReader(bomOf(t)))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(good); err != nil {
		t.Error(err)
	}
	bad := bytes.Replace(bomOf(t), []byte(`"id": "MIT"`), []byte(`"id": "NONE-SUCH"`), 1)
	wrong, err := jsonschema.UnmarshalJSON(bytes.NewReader(bad))
	if err != nil {
		t.Fatal(err)
	}
	if schema.Validate(wrong) == nil {
		t.Error("the schema takes a licence that there is not")
	}
}

// TestBom compares it with the program, and with go.sum.
func TestBom(t *testing.T) {
	var bom cdx.BOM
	if err := json.Unmarshal(bomOf(t), &bom); err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(filepath.Join(unpacked(t), here.program()))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(program)
	if got := (*bom.Metadata.Component.Hashes)[0].Value; got != hex.EncodeToString(sum[:]) {
		t.Errorf("the sum of the program is %s, want %x", got, sum)
	}
	goSum, err := os.ReadFile("../../../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, c := range *bom.Components {
		seen[c.Name] = true
		if c.Licenses == nil || len(*c.Licenses) == 0 {
			t.Errorf("%s has no licence", c.Name)
		}
		if c.Name != standard && !bytes.Contains(goSum, []byte(c.Name+" "+c.Version+" h1:")) {
			t.Errorf("%s %s is not in go.sum", c.Name, c.Version)
		}
	}
	for _, name := range []string{standard, "github.com/nats-io/nats.go", "github.com/alecthomas/kong"} {
		if !seen[name] {
			t.Errorf("%s is missing", name)
		}
	}
	if len(*bom.Dependencies) != len(*bom.Components)+1 {
		t.Errorf("%d components have what they use, want %d", len(*bom.Dependencies), len(*bom.Components)+1)
	}
}
