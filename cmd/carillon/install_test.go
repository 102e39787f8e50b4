package main

import (
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/carillon-sched/carillon/cmd/carillon/terminal"
)

// installed is a process as a service manager starts it.
type installed struct {
	args     []string
	settings map[string]string
	starts   time.Duration // how long it may take to get ready
	stops    time.Duration // how long it may take to end
}

// TestInstalled starts what the service of systemd and the manifests for Kubernetes start, as far as the command line and its
// variables go, and looks at the patience that they have.
func TestInstalled(t *testing.T) {
	for name, of := range map[string]func(*testing.T) installed{"systemd": ofSystemd, "Kubernetes": ofKubernetes} {
		t.Run(name, func(t *testing.T) {
			is := of(t)
			known := variables()
			for name, value := range is.settings {
				if !slices.Contains(known, name) {
					t.Errorf("%s is no variable of serve", name)
				}
				t.Setenv(name, value)
			}
			parser, c := newParser(&terminal.Terminal{Out: io.Discard, Err: io.Discard})
			if _, err := parser.Parse(is.args); err != nil {
				t.Fatalf("%q: %v", is.args, err)
			}
			if err := c.Serve.check(); err != nil {
				t.Error(err)
			}
			if is.starts <= c.Serve.Wait {
				t.Errorf("a start may take %s, and waits %s for NATS", is.starts, c.Serve.Wait)
			}
			if is.stops <= c.Serve.Grace {
				t.Errorf("a stop may take %s, and waits %s for attempts", is.stops, c.Serve.Grace)
			}
		})
	}
}

// variables are those of serve.
func variables() []string {
	parser, _ := newParser(&terminal.Terminal{Out: io.Discard, Err: io.Discard})
	found := []string{"CARILLON_SECRET_KEY"} // which is no flag
	for _, command := range parser.Model.Leaves(true) {
		if command.Name == "serve" {
			for _, flag := range command.Flags {
				found = append(found, flag.Envs...)
			}
		}
	}
	return found
}

// ofSystemd reads the unit, its settings, also those that are comments, and what credentials add.
func ofSystemd(t *testing.T) installed {
	unit := read(t, "examples/systemd/carillon.service")
	value := func(key string) string {
		t.Helper()
		m := regexp.MustCompile(`(?m)^` + key + `=(.*)$`).FindStringSubmatch(unit)
		if m == nil {
			t.Fatalf("the unit has no %s", key)
		}
		return m[1]
	}
	is := installed{args: strings.Fields(value("ExecStart"))[1:], settings: map[string]string{}}
	is.starts, is.stops = seconds(t, value("TimeoutStartSec")), seconds(t, value("TimeoutStopSec"))
	for _, m := range regexp.MustCompile(`(?m)^#?(CARILLON_\w+)=(.*)$`).FindAllStringSubmatch(read(t, "examples/systemd/carillon.env"), -1) {
		is.settings[m[1]] = m[2]
	}
	credentials := read(t, "examples/systemd/credentials.conf")
	for _, m := range regexp.MustCompile(`(?m)^Environment=(CARILLON_\w+)=%d/(.+)$`).FindAllStringSubmatch(credentials, -1) {
		if !strings.Contains(credentials, "\nLoadCredential="+m[2]+":/") {
			t.Errorf("%s names a credential that is not loaded", m[1])
		}
		is.settings[m[1]] = someFile(t, m[2])
	}
	if len(is.settings) < 8 {
		t.Errorf("only these settings were found: %v", slices.Sorted(maps.Keys(is.settings)))
	}
	return is
}

// deployment is what is looked at of one.
type deployment struct {
	Spec struct {
		Template struct {
			Spec struct {
				Grace      int `yaml:"terminationGracePeriodSeconds"`
				Containers []struct {
					Args []string `yaml:"args"`
					Env  []struct {
						Name  string `yaml:"name"`
						Value string `yaml:"value"`
					} `yaml:"env"`
					StartupProbe struct {
						Period  int `yaml:"periodSeconds"`
						Failure int `yaml:"failureThreshold"`
					} `yaml:"startupProbe"`
					Lifecycle struct {
						PreStop struct {
							Sleep struct {
								Seconds int `yaml:"seconds"`
							} `yaml:"sleep"`
						} `yaml:"preStop"`
					} `yaml:"lifecycle"`
				} `yaml:"containers"`
			} `yaml:"spec"`
		} `yaml:"template"`
	} `yaml:"spec"`
}

// ofKubernetes reads the container, its environment, and the settings that it takes in.
func ofKubernetes(t *testing.T) installed {
	var scheduler deployment
	manifest(t, "scheduler.yaml", &scheduler)
	var settings struct {
		Data map[string]string `yaml:"data"`
	}
	manifest(t, "settings.yaml", &settings)
	pod := scheduler.Spec.Template.Spec
	container := pod.Containers[0]
	is := installed{args: container.Args, settings: maps.Clone(settings.Data)}
	for _, v := range container.Env {
		if strings.HasPrefix(v.Value, "/") {
			v.Value = someFile(t, filepath.Base(v.Value))
		}
		is.settings[v.Name] = v.Value
	}
	is.starts = time.Duration(container.StartupProbe.Period*container.StartupProbe.Failure) * time.Second
	is.stops = time.Duration(pod.Grace-container.Lifecycle.PreStop.Sleep.Seconds) * time.Second
	return is
}

// manifest reads the first document of a manifest.
func manifest(t *testing.T, name string, into any) {
	t.Helper()
	if err := yaml.NewDecoder(strings.NewReader(read(t, "examples/kubernetes/"+name))).Decode(into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// someFile is a file that is there.
func someFile(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func seconds(t *testing.T, text string) time.Duration {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(n) * time.Second
}
