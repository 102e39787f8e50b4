package main

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// composed is what the tests read of the compose file, with its anchors followed.
type composed struct {
	Services map[string]service `yaml:"services"`
	Volumes  map[string]any     `yaml:"volumes"`
}

type service struct {
	Image       string            `yaml:"image"`
	Profiles    []string          `yaml:"profiles"`
	Ports       []string          `yaml:"ports"`
	Volumes     []string          `yaml:"volumes"`
	Environment map[string]string `yaml:"environment"`
	ReadOnly    bool              `yaml:"read_only"`
	MemLimit    string            `yaml:"mem_limit"`
	Logging     struct {
		Driver  string            `yaml:"driver"`
		Options map[string]string `yaml:"options"`
	} `yaml:"logging"`
	CapDrop     []string `yaml:"cap_drop"`
	SecurityOpt []string `yaml:"security_opt"`
	Networks    map[string]struct {
		Aliases []string `yaml:"aliases"`
	} `yaml:"networks"`
	Healthcheck struct {
		Test []string `yaml:"test"`
	} `yaml:"healthcheck"`
}

// decode reads a YAML file at the top of the repository.
func decode(t *testing.T, file string, into any, options ...yaml.Option) {
	t.Helper()
	data, err := os.ReadFile("../../../" + file)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Load(data, into, options...); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// TestBounded checks that every service has a memory limit and rotates its log.
func TestBounded(t *testing.T) {
	var file composed
	decode(t, composeFile, &file)
	for name, s := range file.Services {
		if s.MemLimit == "" {
			t.Errorf("%s has no memory limit", name)
		}
		if o := s.Logging.Options; s.Logging.Driver != "json-file" || o["max-size"] == "" || o["max-file"] == "" {
			t.Errorf("%s does not rotate its log", name)
		}
	}
}

// TestObservers are pinned, hardened, reached from this machine alone, checked, and keep what they know in named volumes.
func TestObservers(t *testing.T) {
	var file composed
	decode(t, composeFile, &file)
	pinned := regexp.MustCompile(`^[a-z/]+:v?\d+\.\d+\.\d+$`)
	var found []string
	for name, s := range file.Services {
		if !slices.Contains(s.Profiles, "observe") {
			continue
		}
		found = append(found, name)
		if !pinned.MatchString(s.Image) {
			t.Errorf("%s: image %q has no version", name, s.Image)
		}
		if !s.ReadOnly || !slices.Equal(s.CapDrop, []string{"ALL"}) || !slices.Contains(s.SecurityOpt, "no-new-privileges:true") {
			t.Errorf("%s is not hardened", name)
		}
		if len(s.Healthcheck.Test) == 0 {
			t.Errorf("%s has no health check", name)
		}
		for _, port := range s.Ports {
			if !strings.HasPrefix(port, "127.0.0.1:") {
				t.Errorf("%s: port %s is for other machines", name, port)
			}
		}
		for _, volume := range s.Volumes {
			from, _, _ := strings.Cut(volume, ":")
			if path, ok := strings.CutPrefix(from, "./"); ok {
				if _, err := os.Stat("../../../" + path); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			} else if _, named := file.Volumes[from]; !named {
				t.Errorf("%s: no volume %q", name, from)
			}
		}
	}
	slices.Sort(found)
	if want := []string{"grafana", "jaeger", "prometheus"}; !slices.Equal(found, want) {
		t.Errorf("the profile has %q, want %q", found, want)
	}
}

// TestScraped finds the schedulers of each profile under the addresses that Prometheus scrapes.
func TestScraped(t *testing.T) {
	var file composed
	decode(t, composeFile, &file)
	var scraped struct {
		Configs []struct {
			Static []struct {
				Targets []string `yaml:"targets"`
			} `yaml:"static_configs"`
		} `yaml:"scrape_configs"`
	}
	decode(t, "examples/observability/prometheus.yaml", &scraped)
	for _, profile := range []string{"local", "cluster", "microsoft"} {
		var schedulers []string
		for name, s := range file.Services {
			metrics, ok := s.Environment["CARILLON_METRICS"]
			if !ok || !slices.Contains(s.Profiles, profile) {
				continue
			}
			if aliases := s.Networks["default"].Aliases; len(aliases) > 0 {
				name = aliases[0]
			}
			schedulers = append(schedulers, name+strings.TrimPrefix(metrics, "0.0.0.0"))
		}
		slices.Sort(schedulers)
		if targets := scraped.Configs[0].Static[0].Targets; !slices.Equal(schedulers, targets) {
			t.Errorf("%s has %q, and Prometheus scrapes %q", profile, schedulers, targets)
		}
	}
}

// The files that Grafana reads at its start, with the members of them that its documentation has and that are used.
type (
	datasources struct {
		APIVersion  int `yaml:"apiVersion"`
		Datasources []struct {
			Name      string `yaml:"name"`
			UID       string `yaml:"uid"`
			Type      string `yaml:"type"`
			Access    string `yaml:"access"`
			URL       string `yaml:"url"`
			IsDefault bool   `yaml:"isDefault"`
		} `yaml:"datasources"`
	}
	dashboards struct {
		APIVersion int `yaml:"apiVersion"`
		Providers  []struct {
			Name    string `yaml:"name"`
			Type    string `yaml:"type"`
			Options struct {
				Path string `yaml:"path"`
			} `yaml:"options"`
		} `yaml:"providers"`
	}
)

// TestGrafana finds behind each data source a service, for the dashboard a data source, and the dashboard where Grafana
// looks for it.
func TestGrafana(t *testing.T) {
	var file composed
	decode(t, composeFile, &file)
	var sources datasources
	decode(t, "examples/compose/grafana/datasources.yaml", &sources, yaml.WithKnownFields())
	var boards dashboards
	decode(t, "examples/compose/grafana/dashboards.yaml", &boards, yaml.WithKnownFields())
	if sources.APIVersion != 1 || boards.APIVersion != 1 || len(sources.Datasources) != 2 || len(boards.Providers) != 1 {
		t.Fatalf("%+v %+v", sources, boards)
	}
	var uids, def []string
	for _, s := range sources.Datasources {
		host, port, ok := strings.Cut(strings.TrimPrefix(s.URL, "http://"), ":")
		if ports := file.Services[host].Ports; !ok || len(ports) != 1 || !strings.HasSuffix(ports[0], ":"+port) {
			t.Errorf("%s: %s is no address of the stack", s.Name, s.URL)
		}
		if s.Type != host || s.Access != "proxy" {
			t.Errorf("%s: type %q, access %q", s.Name, s.Type, s.Access)
		}
		uids = append(uids, s.UID)
		if s.IsDefault {
			def = append(def, s.Type)
		}
	}
	if asked := readSources(t); !slices.Equal(def, []string{asked.variable}) {
		t.Errorf("the dashboard asks for a %s, and the default is %q", asked.variable, def)
	} else {
		for _, uid := range asked.uids {
			if uid != "${datasource}" && !slices.Contains(uids, uid) {
				t.Errorf("the dashboard asks the data source %q, and there are %q", uid, uids)
			}
		}
	}
	mounts := file.Services["grafana"].Volumes
	for _, want := range []string{
		"./examples/observability/dashboard.json:" + boards.Providers[0].Options.Path + "/dashboard.json:ro",
		"./examples/compose/grafana/datasources.yaml:/etc/grafana/provisioning/datasources/carillon.yaml:ro",
		"./examples/compose/grafana/dashboards.yaml:/etc/grafana/provisioning/dashboards/carillon.yaml:ro",
	} {
		if !slices.Contains(mounts, want) {
			t.Errorf("Grafana lacks %s", want)
		}
	}
}

// asked is which data sources the dashboard asks: the type of the one that its reader chooses, and the ids that it names.
type asked struct {
	variable string
	uids     []string
}

func readSources(t *testing.T) (a asked) {
	t.Helper()
	data, err := os.ReadFile("../../../examples/observability/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Templating struct {
			List []struct {
				Name  string `json:"name"`
				Type  string `json:"type"`
				Query string `json:"query"`
			} `json:"list"`
		} `json:"templating"`
	}
	if err := json.Unmarshal(data, &board); err != nil {
		t.Fatal(err)
	}
	for _, v := range board.Templating.List {
		if v.Type == "datasource" && v.Name == "datasource" {
			a.variable = v.Query
		}
	}
	for _, m := range regexp.MustCompile(`"datasource": *\{[^}]*"uid": *"([^"]*)"`).FindAllSubmatch(data, -1) {
		a.uids = append(a.uids, string(m[1]))
	}
	if a.variable == "" || len(a.uids) == 0 {
		t.Fatalf("the dashboard names no data source: %+v", a)
	}
	return a
}

// TestObserveFile sends the traces where Jaeger takes them.
func TestObserveFile(t *testing.T) {
	const observeFile = "examples/compose/observe.env"
	data, err := os.ReadFile("../../../" + observeFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"COMPOSE_PROFILES=local,observe\n", "OTEL_EXPORTER_OTLP_ENDPOINT=http://jaeger:4318\n"} {
		if !strings.Contains(string(data), want) {
			t.Errorf("%s lacks %s", observeFile, want)
		}
	}
	var file composed
	decode(t, composeFile, &file)
	for name, s := range file.Services {
		if _, scheduler := s.Environment["CARILLON_METRICS"]; scheduler &&
			s.Environment["OTEL_EXPORTER_OTLP_ENDPOINT"] != "${OTEL_EXPORTER_OTLP_ENDPOINT:-}" {
			t.Errorf("%s sends its traces to %q", name, s.Environment["OTEL_EXPORTER_OTLP_ENDPOINT"])
		}
	}
}
