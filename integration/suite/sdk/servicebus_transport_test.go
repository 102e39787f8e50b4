package sdk

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/coder/websocket"

	"github.com/carillon-sched/carillon/integration/emulator/emulatortest"
	"github.com/carillon-sched/carillon/integration/emulator/servicebus"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

// overWebSocket makes the SDK use AMQP over WebSocket.
func overWebSocket(server *servicebus.Server, client *http.Client, scheme string) *azservicebus.ClientOptions {
	return &azservicebus.ClientOptions{
		RetryOptions: quick.RetryOptions,
		NewWebSocketConn: func(ctx context.Context, args azservicebus.NewWebSocketConnArgs) (net.Conn, error) {
			_, path, _ := strings.Cut(args.Host, "/$")
			conn, _, err := websocket.Dial(ctx, scheme+"://"+server.HTTPAddr()+"/$"+path, &websocket.DialOptions{ //nolint:bodyclose // Dial closes it
				Subprotocols: []string{"amqp"}, HTTPClient: client,
			})
			if err != nil {
				return nil, err
			}
			return websocket.NetConn(context.WithoutCancel(ctx), conn, websocket.MessageBinary), nil
		},
	}
}

func TestServiceBusWebSocket(t *testing.T) {
	server := startBus(t, queue("orders", ""))
	client := dialString(t, server.ConnectionString(), overWebSocket(server, nil, "ws"))
	send(t, client, "orders", &azservicebus.Message{Body: make([]byte, 500<<10)})
	r := receiver(t, client, "orders")
	must.Do(t, r.CompleteMessage(within(t), receive(t, r, 1)[0], nil))
}

// TestServiceBusTLS shows AMQP, WebSocket and administration through TLS, on the ports that also serve without.
func TestServiceBusTLS(t *testing.T) {
	serving, trusting := certificate(t)
	server := startBus(t, queue("orders", ""), func(c *servicebus.Config) { c.TLS = serving })
	secure := strings.Replace(server.ConnectionString(), "UseDevelopmentEmulator=true", "", 1)
	secure = strings.Replace(secure, server.Addr(), "localhost", 1)
	options := *quick
	options.TLSConfig, options.CustomEndpoint = trusting, server.Addr()
	secureClient := dialString(t, secure, &options)
	send(t, secureClient, "orders", text("secure"))
	one(t, receiver(t, dial(t, server), "orders"), "secure")
	over := overWebSocket(server, &http.Client{Transport: &http.Transport{TLSClientConfig: trusting}}, "wss")
	send(t, dialString(t, server.ConnectionString(), over), "orders", text("web"))
}

// certificate returns what the emulator serves with and what clients trust.
func certificate(t *testing.T) (serving, trusting *tls.Config) {
	t.Helper()
	made, authority, err := emulatortest.Certificate("127.0.0.1", "localhost")
	must.Do(t, err)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	return &tls.Config{Certificates: []tls.Certificate{made}, MinVersion: tls.VersionTLS12},
		&tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
}
