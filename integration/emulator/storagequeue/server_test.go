package storagequeue_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2/queueerror"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2/sas"

	"github.com/carillon-sched/carillon/integration/emulator/emulatortest"
	"github.com/carillon-sched/carillon/integration/emulator/storagequeue"
	"github.com/carillon-sched/carillon/integration/testkit/must"
)

func start(t *testing.T, cfg storagequeue.Config) *storagequeue.Server {
	t.Helper()
	cfg.Addr = "127.0.0.1:0"
	s := must.Get(storagequeue.Start(t.Context(), cfg))(t)
	t.Cleanup(func() { must.Do(t, s.Close()) })
	return s
}

// client returns a client of the SDK with connections of its own.
func client(t *testing.T, connection string, config *tls.Config) *azqueue.ServiceClient {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: config}
	t.Cleanup(transport.CloseIdleConnections)
	c := must.Get(azqueue.NewServiceClientFromConnectionString(connection, &azqueue.ClientOptions{ClientOptions: policy.ClientOptions{
		Transport: &http.Client{Transport: transport}, Retry: policy.RetryOptions{MaxRetries: -1},
	}}))(t)
	return c
}

func TestConnectionStrings(t *testing.T) {
	s := start(t, storagequeue.Config{Accounts: map[string]string{"mine": "bWluZQ==", storagequeue.DefaultAccount: storagequeue.DefaultKey}})
	for _, connection := range []string{s.ConnectionString(), s.ConnectionStringFor("mine")} {
		if _, err := client(t, connection, nil).CreateQueue(t.Context(), "orders", nil); err != nil {
			t.Errorf("%s: %v", connection, err)
		}
	}
	_, err := client(t, s.ConnectionStringFor("other"), nil).CreateQueue(t.Context(), "orders", nil)
	if !queueerror.HasCode(err, queueerror.ResourceNotFound) {
		t.Errorf("another account: got %v", err)
	}
	if !strings.HasPrefix(s.URL(), "http://127.0.0.1:") {
		t.Errorf("got %s", s.URL())
	}
}

func TestLenient(t *testing.T) {
	s := start(t, storagequeue.Config{Keys: storagequeue.Lenient, AutoCreate: true})
	c := client(t, "AccountName=any;AccountKey=AAAA;QueueEndpoint="+s.URL()+"/any;", nil)
	must.Get(c.NewQueueClient("orders").EnqueueMessage(t.Context(), "x", nil))(t)
	url := must.Get(c.NewQueueClient("orders").GetSASURL(sas.QueuePermissions{Read: true}, time.Now(), nil))(t)
	q := must.Get(azqueue.NewQueueClientWithNoCredential(url, nil))(t)
	if got, err := q.DequeueMessage(t.Context(), nil); err != nil || len(got.Messages) != 1 {
		t.Errorf("a signature for something else: got %v, %v", got.Messages, err)
	}
	http.DefaultClient.CloseIdleConnections()
}

func TestHTTPS(t *testing.T) {
	cert, authority, err := emulatortest.Certificate("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	s := start(t, storagequeue.Config{Certificate: &cert})
	trust := &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	c := client(t, s.ConnectionString(), trust)
	must.Get(c.CreateQueue(t.Context(), "orders", nil))(t)
	page, err := c.NewListQueuesPager(nil).NextPage(t.Context())
	if err != nil || *page.ServiceEndpoint != s.URL()+"/"+storagequeue.DefaultAccount || !strings.HasPrefix(s.URL(), "https://") {
		t.Errorf("got %+v, %v", page, err)
	}
	// What the SDK signs is for HTTPS only.
	url := must.Get(c.NewQueueClient("orders").GetSASURL(sas.QueuePermissions{Add: true}, time.Now().Add(time.Hour), nil))(t)
	transport := &http.Transport{TLSClientConfig: trust}
	defer transport.CloseIdleConnections()
	q := must.Get(azqueue.NewQueueClientWithNoCredential(url, &azqueue.ClientOptions{ClientOptions: policy.ClientOptions{
		Transport: &http.Client{Transport: transport},
	}}))(t)
	must.Get(q.EnqueueMessage(t.Context(), "x", nil))(t)
}

// TestClose leaves nothing running and the address free, whatever clients do.
func TestClose(t *testing.T) {
	http.DefaultClient.CloseIdleConnections()
	before := goroutines()
	s := start(t, storagequeue.Config{Data: t.TempDir()})
	addr := strings.TrimPrefix(s.URL(), "http://")
	for _, sent := range []string{"", "PUT /devstoreaccount1/orders HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n", "GET / HTTP/1.1\r\nHo"} {
		conn := must.Get(new(net.Dialer).DialContext(t.Context(), "tcp", addr))(t)
		defer conn.Close() //nolint:gocritic // open until the emulator has closed
		must.Get(io.WriteString(conn, sent))(t)
	}
	c := client(t, s.ConnectionString(), nil)
	must.Get(c.CreateQueue(t.Context(), "orders", nil))(t)
	for range 2 {
		must.Do(t, s.Close())
	}
	tick, deadline := time.NewTicker(time.Millisecond), time.After(20*time.Second)
	defer tick.Stop()
	for left := leftRunning(); left != nil; left = leftRunning() {
		select {
		case <-tick.C: // one that has nothing more to do may not have ended yet
		case <-deadline:
			t.Fatalf("left running:\n%s\n\nbefore:\n%s", left, before)
		}
	}
	again := must.Get(storagequeue.Start(t.Context(), storagequeue.Config{Addr: addr}))(t)
	must.Do(t, again.Close())
}

// leftRunning returns the stack of a goroutine of the emulator, nil if there is none.
func leftRunning() []byte {
	for stack := range bytes.SplitSeq(goroutines(), []byte("\n\n")) {
		if bytes.Contains(stack, []byte("storagequeue.")) && !bytes.Contains(stack, []byte("storagequeue_test.")) ||
			bytes.Contains(stack, []byte("net/http.(*conn)")) {
			return stack
		}
	}
	return nil
}

func TestContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := must.Get(storagequeue.Start(ctx, storagequeue.Config{Addr: "127.0.0.1:0"}))(t)
	cancel()
	if err := s.Close(); err != nil { // waits
		t.Error(err)
	}
	if conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.URL(), "http://")); err == nil {
		conn.Close()
		t.Error("it still listens")
	}
	if _, err := storagequeue.Start(ctx, storagequeue.Config{Addr: "127.0.0.1:0"}); err == nil {
		t.Error("it starts in a context that has ended")
	}
	if _, err := storagequeue.Start(t.Context(), storagequeue.Config{Addr: "nowhere"}); err == nil {
		t.Error("it starts nowhere")
	}
}

// TestAccountInAnyCase shows that an account is the same in any letter case, as a host's name is.
func TestAccountInAnyCase(t *testing.T) {
	s := start(t, storagequeue.Config{AutoCreate: true})
	for _, account := range []string{"devstoreaccount1", "DevStoreAccount1"} {
		cred := must.Get(azqueue.NewSharedKeyCredential(account, storagequeue.DefaultKey))(t)
		client := must.Get(azqueue.NewQueueClientWithSharedKeyCredential(s.URL()+"/"+account+"/orders", cred, nil))(t)
		must.Get(client.EnqueueMessage(t.Context(), account, nil))(t)
		if p, err := client.GetProperties(t.Context(), nil); account != "devstoreaccount1" && (err != nil || *p.ApproximateMessagesCount != 2) {
			t.Errorf("%v, %v", p.ApproximateMessagesCount, err)
		}
	}
}
