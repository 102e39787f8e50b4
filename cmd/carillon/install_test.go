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
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// installed is a process as a service manager starts it.
type installed struct {
	args     []string
	file     string            // the settings, as a text
	settings map[string]string // as variables
	starts   time.Duration     // how long it may take to get ready
	stops    time.Duration     // how long it may take to end
}

// settingsFile is where the service and the pods have their settings.
const settingsFile = "/etc/carillon/serve.yaml"

// TestInstalled starts what the service of systemd and the manifests for Kubernetes start, as far as the command line, the
// file and the variables go, and looks at the patience that they have. What is a comment in the file is meant, too.
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
			for what, text := range map[string]string{"as it is": is.file, "with its comments": is.whole(t)} {
				c, err := is.read(t, text)
				if err != nil {
					t.Fatalf("%q, %s: %v\n%s", is.args, what, err, text)
				}
				if is.starts <= c.Wait {
					t.Errorf("a start may take %s, and waits %s for NATS", is.starts, c.Wait)
				}
				if is.stops <= c.Grace {
					t.Errorf("a stop may take %s, and waits %s for attempts", is.stops, c.Grace)
				}
			}
		})
	}
}

// read is what the process would be set to by this text. Files that it names are there.
func (is installed) read(t *testing.T, text string) (serveCmd, error) {
	t.Helper()
	for _, path := range regexp.MustCompile(`: (/\S+)`).FindAllStringSubmatch(text, -1) {
		text = strings.ReplaceAll(text, path[1], someFile(t, filepath.Base(path[1])))
	}
	file := filepath.Join(t.TempDir(), "serve.yaml")
	must.Do(t, os.WriteFile(file, []byte(text), 0o600))
	args := slices.Clone(is.args)
	at := slices.Index(args, settingsFile)
	if at < 0 {
		t.Fatalf("%q does not name %s", args, settingsFile)
	}
	args[at] = file
	c, _, err := commandLine(args).settings(t.Context(), &terminal.Terminal{Out: io.Discard, Err: io.Discard, Lookup: os.LookupEnv})
	return c, err
}

// whole is the file with each setting that is a comment.
func (is installed) whole(t *testing.T) string {
	t.Helper()
	// What is no setting there is the schema, for editors.
	comments := regexp.MustCompile(`(?m)^# ([a-z-]+: [^$])`)
	if !comments.MatchString(is.file) {
		t.Errorf("no setting is a comment in\n%s", is.file)
	}
	return comments.ReplaceAllString(is.file, "$1")
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

// ofSystemd reads the unit, its settings, and what credentials add.
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
	is := installed{
		args: strings.Fields(value("ExecStart"))[1:], file: read(t, "examples/serve/serve.yaml"), settings: map[string]string{},
	}
	is.starts, is.stops = seconds(t, value("TimeoutStartSec")), seconds(t, value("TimeoutStopSec"))
	credentials := read(t, "examples/systemd/credentials.conf")
	for _, m := range regexp.MustCompile(`(?m)^Environment=(CARILLON_\w+)=%d/(.+)$`).FindAllStringSubmatch(credentials, -1) {
		if !strings.Contains(credentials, "\nLoadCredential="+m[2]+":/") {
			t.Errorf("%s names a credential that is not loaded", m[1])
		}
		is.settings[m[1]] = someFile(t, m[2])
	}
	if len(is.settings) != 2 {
		t.Errorf("these settings were found, not two: %v", slices.Sorted(maps.Keys(is.settings)))
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

// ofKubernetes reads the container, its environment, and the settings, which have to be mounted where it looks for them.
func ofKubernetes(t *testing.T) installed {
	var scheduler deployment
	manifest(t, "scheduler.yaml", &scheduler)
	pod := scheduler.Spec.Template.Spec
	container := pod.Containers[0]
	is := installed{args: container.Args, file: read(t, "examples/kubernetes/serve.yaml"), settings: map[string]string{}}
	for _, v := range container.Env {
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
	must.Do(t, os.WriteFile(path, nil, 0o600))
	return path
}

func seconds(t *testing.T, text string) time.Duration {
	t.Helper()
	n := must.Get(strconv.Atoi(text))(t)
	return time.Duration(n) * time.Second
}
