package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// serverPorts is the file in which nats-server tells its ports.
type serverPorts struct {
	NATS    []string `json:"nats"`
	Profile []string `json:"profile"`
}

// spawnServer starts nats-server on the directory data and returns when it tells where it listens. Its own files are in dir.
// addr is host:port; port -1 takes a free one. All settings beside those named here are the server's defaults.
func spawnServer(ctx context.Context, program, dir, data, addr, sync string) (*engine, error) {
	config := filepath.Join(dir, "nats-server.conf")
	text := fmt.Sprintf("listen: %q\nprof_port: -1\njetstream { store_dir: %q%s }\n", addr, data, syncSetting(sync))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	p, err := spawn(processServer, dir, program, nil, "--config", config, "--ports_file_dir", dir)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, fmt.Sprintf("%s_%s.ports", filepath.Base(program), p.pid()))
	var ports serverPorts
	err = p.started(ctx, func() bool {
		data, err := os.ReadFile(file)
		return err == nil && json.Unmarshal(data, &ports) == nil && len(ports.NATS) > 0 && len(ports.Profile) > 0
	})
	if err != nil {
		p.kill()
		return nil, err
	}
	p.pprof = ports.Profile[0] + "/debug/pprof/"
	return &engine{process: p, url: ports.NATS[0], conn: connTCP}, nil
}

// syncSetting is the server's setting for -sync.
func syncSetting(sync string) string {
	if sync == "" {
		return ""
	}
	return ", sync_interval: " + sync
}
