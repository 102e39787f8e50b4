package main

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	security "k8s.io/pod-security-admission/api"
	restricted "k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/yaml"
)

// manifests are the folder of the examples for Kubernetes.
const manifests = "../../../examples/kubernetes"

// kinds are the types of Kubernetes that the manifests have, as its API defines them.
var kinds = map[string]func() any{
	"v1 Namespace":                            func() any { return &core.Namespace{} },
	"v1 Service":                              func() any { return &core.Service{} },
	"v1 ServiceAccount":                       func() any { return &core.ServiceAccount{} },
	"apps/v1 Deployment":                      func() any { return &apps.Deployment{} },
	"policy/v1 PodDisruptionBudget":           func() any { return &policy.PodDisruptionBudget{} },
	"networking.k8s.io/v1 NetworkPolicy":      func() any { return &networking.NetworkPolicy{} },
	"monitoring.coreos.com/v1 ServiceMonitor": func() any { return &monitoring.ServiceMonitor{} },
}

// objects reads all manifests, by kind. A member that the API has not, or a value of another type, is a mistake.
func objects(t *testing.T) map[string]any {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(manifests, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]any{}
	for _, file := range files {
		if name := filepath.Base(file); slices.Contains([]string{"kustomization.yaml", "nats-values.yaml", "serve.yaml"}, name) {
			continue // of other programs
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for document := range bytes.SplitSeq(text, []byte("\n---\n")) {
			kind, object, err := decode(document)
			if err != nil {
				t.Errorf("%s: %v", file, err)
			}
			if found[kind] != nil {
				t.Errorf("%s: there are two of %s", file, kind)
			}
			found[kind] = object
		}
	}
	return found
}

func decode(document []byte) (kind string, object any, err error) {
	var head struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
	}
	if err := yaml.Unmarshal(document, &head); err != nil {
		return "", nil, err
	}
	kind = head.APIVersion + " " + head.Kind
	typed := kinds[kind]
	if typed == nil {
		return kind, nil, os.ErrNotExist
	}
	object = typed()
	return kind, object, yaml.UnmarshalStrict(document, object)
}

// TestManifests reads every manifest as Kubernetes would, and there is one of each kind.
func TestManifests(t *testing.T) {
	found := objects(t)
	if got, want := slices.Sorted(maps.Keys(found)), slices.Sorted(maps.Keys(kinds)); !slices.Equal(got, want) {
		t.Errorf("there are %q, want %q", got, want)
	}
	for _, wrong := range []string{"replica: 3", "replicas: three"} {
		if _, _, err := decode([]byte("apiVersion: apps/v1\nkind: Deployment\nspec: {" + wrong + "}")); err == nil {
			t.Errorf("a deployment with %s is taken", wrong)
		}
	}
}

// TestRestricted holds the pod to the standard "restricted" of Kubernetes, which its namespace enforces.
func TestRestricted(t *testing.T) {
	found := objects(t)
	pod := found["apps/v1 Deployment"].(*apps.Deployment).Spec.Template
	evaluator, err := restricted.NewEvaluator(restricted.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	standard := security.LevelVersion{Level: security.LevelRestricted, Version: security.LatestVersion()}
	refusals := func() (all []string) {
		for _, result := range evaluator.EvaluatePod(standard, &pod.ObjectMeta, &pod.Spec) {
			if !result.Allowed {
				all = append(all, result.ForbiddenReason+": "+result.ForbiddenDetail)
			}
		}
		return all
	}
	if told := refusals(); told != nil {
		t.Error(strings.Join(told, "\n"))
	}
	if level := found["v1 Namespace"].(*core.Namespace).Labels[security.EnforceLevelLabel]; level != string(security.LevelRestricted) {
		t.Errorf("the namespace enforces %q", level)
	}
	if pod.Spec.AutomountServiceAccountToken == nil || *pod.Spec.AutomountServiceAccountToken {
		t.Error("the pod has a token of Kubernetes")
	}
	if read := pod.Spec.Containers[0].SecurityContext.ReadOnlyRootFilesystem; read == nil || !*read {
		t.Error("the pod may write to its root file system")
	}
	pod.Spec.Containers[0].SecurityContext.Capabilities = nil
	if refusals() == nil {
		t.Error("a pod that keeps capabilities is taken")
	}
}

// TestSelectors follows what the manifests say of each other: labels, ports and names.
func TestSelectors(t *testing.T) {
	found := objects(t)
	deployment := found["apps/v1 Deployment"].(*apps.Deployment)
	pod := deployment.Spec.Template
	var ports []string
	for _, port := range pod.Spec.Containers[0].Ports {
		ports = append(ports, port.Name)
	}
	selects := map[string]map[string]string{
		"Deployment":          deployment.Spec.Selector.MatchLabels,
		"Service":             found["v1 Service"].(*core.Service).Spec.Selector,
		"PodDisruptionBudget": found["policy/v1 PodDisruptionBudget"].(*policy.PodDisruptionBudget).Spec.Selector.MatchLabels,
		"NetworkPolicy":       found["networking.k8s.io/v1 NetworkPolicy"].(*networking.NetworkPolicy).Spec.PodSelector.MatchLabels,
	}
	for _, spread := range pod.Spec.TopologySpreadConstraints {
		selects["spread over "+spread.TopologyKey] = spread.LabelSelector.MatchLabels
	}
	for what, labels := range selects {
		if !maps.Equal(labels, pod.Labels) {
			t.Errorf("%s selects %v, and the pods have %v", what, labels, pod.Labels)
		}
	}
	var named []string
	for _, port := range found["v1 Service"].(*core.Service).Spec.Ports {
		named = append(named, port.TargetPort.String())
	}
	for _, rule := range found["networking.k8s.io/v1 NetworkPolicy"].(*networking.NetworkPolicy).Spec.Ingress {
		for _, port := range rule.Ports {
			named = append(named, port.Port.String())
		}
	}
	for _, end := range found["monitoring.coreos.com/v1 ServiceMonitor"].(*monitoring.ServiceMonitor).Spec.Endpoints {
		named = append(named, end.Port)
	}
	for _, name := range named {
		if !slices.Contains(ports, name) {
			t.Errorf("the port %q is named, and the pods have %q", name, ports)
		}
	}
	if got, want := pod.Spec.ServiceAccountName, found["v1 ServiceAccount"].(*core.ServiceAccount).Name; got != want {
		t.Errorf("the pods are %q, and there is %q", got, want)
	}
}

// TestSettings follows the settings from their file into the pods.
func TestSettings(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(manifests, "kustomization.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var of struct {
		Generators []struct {
			Name  string   `json:"name"`
			Files []string `json:"files"`
		} `json:"configMapGenerator"`
	}
	if err := yaml.Unmarshal(text, &of); err != nil || len(of.Generators) != 1 || len(of.Generators[0].Files) != 1 {
		t.Fatalf("the kustomization makes no ConfigMap of one file: %+v, %v", of, err)
	}
	settings := of.Generators[0]
	pod := objects(t)["apps/v1 Deployment"].(*apps.Deployment).Spec.Template.Spec
	volume, mount := pod.Volumes[0], pod.Containers[0].VolumeMounts[0]
	if volume.ConfigMap == nil || volume.ConfigMap.Name != settings.Name {
		t.Errorf("the pods have %v, and there is %q", volume.ConfigMap, settings.Name)
	}
	if mount.Name != volume.Name || mount.SubPath != "" {
		t.Errorf("the settings are not mounted as a folder, so that changes arrive: %v", mount)
	}
	if path := mount.MountPath + "/" + settings.Files[0]; !slices.Contains(pod.Containers[0].Args, path) {
		t.Errorf("the pods do not read %s: %q", path, pod.Containers[0].Args)
	}
}

// TestKustomize puts the manifests together with kubectl, where it is.
func TestKustomize(t *testing.T) {
	kubectl, err := exec.LookPath("kubectl")
	if err != nil {
		t.Skip("kubectl is not here; install it, on Debian with apt-get install kubernetes-client")
	}
	out, err := output(t.Context(), manifests, kubectl, "kustomize", ".")
	if err != nil {
		t.Fatal(err)
	}
	seen, settings := 0, false
	kinds["v1 ConfigMap"] = func() any { return &core.ConfigMap{} }
	defer delete(kinds, "v1 ConfigMap") // which is made
	for document := range strings.SplitSeq(out, "\n---\n") {
		kind, object, err := decode([]byte(document))
		if err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		if made, ok := object.(*core.ConfigMap); ok {
			settings = made.Name == "carillon" && made.Data["serve.yaml"] != ""
		}
		seen++
	}
	if !settings {
		t.Error("there is no ConfigMap with the settings")
	}
	if want := len(kinds) - 1; seen != want { // without the ServiceMonitor, which not every cluster knows
		t.Errorf("there are %d objects, want %d", seen, want)
	}
	if !strings.Contains(out, "image: registry.example/carillon:v0.1.0\n") {
		t.Error("the image is not that of the kustomization")
	}
}
