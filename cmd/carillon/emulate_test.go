package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"os"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus"
	"github.com/Azure/azure-sdk-for-go/sdk/messaging/azservicebus/admin"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/carillon-sched/carillon/integration/emulator/emulatortest"
)

// send puts a message where a connection string leads to, through Azure's SDKs.
func send(ts *testscript.TestScript, neg bool, args []string) {
	connection, entity, text := args[0], args[1], args[2]
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	to := sendToBus
	if isStorage(connection) {
		to = sendToQueue
	}
	if err := to(ctx, connection, entity, text); (err != nil) != neg {
		ts.Fatalf("%s: %v", entity, err)
	}
}

// receive takes a message from where a connection string leads to; its text becomes stdout.
func receive(ts *testscript.TestScript, _ bool, args []string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	from := receiveFromBus
	if isStorage(args[0]) {
		from = receiveFromQueue
	}
	text, err := from(ctx, args[0], args[1])
	ts.Check(err)
	_, err = ts.Stdout().Write([]byte(text + "\n"))
	ts.Check(err)
}

// makeQueue makes a Service Bus queue through the admin client, or a storage queue.
func makeQueue(ts *testscript.TestScript, neg bool, args []string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	to := makeBusQueue
	if isStorage(args[0]) {
		to = makeStorageQueue
	}
	if err := to(ctx, transport(ts), args[0], args[1]); (err != nil) != neg {
		ts.Fatalf("%s: %v", args[1], err)
	}
}

func makeBusQueue(ctx context.Context, over policy.Transporter, connection, queue string) error {
	client, err := admin.NewClientFromConnectionString(connection, &admin.ClientOptions{ClientOptions: azcore.ClientOptions{Transport: over}})
	if err == nil {
		_, err = client.CreateQueue(ctx, queue, nil)
	}
	return err
}

func makeStorageQueue(ctx context.Context, over policy.Transporter, connection, queue string) error {
	options := azqueue.ClientOptions{ClientOptions: azcore.ClientOptions{Retry: policy.RetryOptions{MaxRetries: -1}}}
	if over != (plainHTTP{}) {
		options.Transport = over
	}
	client, err := azqueue.NewQueueClientFromConnectionString(connection, queue, &options)
	if err == nil {
		_, err = client.Create(ctx, nil)
	}
	return err
}

// trust sets what make trusts.
func trust(ts *testscript.TestScript, _ bool, args []string) {
	file := ""
	if len(args) > 0 {
		file = ts.MkAbs(args[0])
	}
	ts.Setenv("TRUSTED", file)
}

// transport is HTTPS that trusts $TRUSTED or, without it, HTTP.
func transport(ts *testscript.TestScript) policy.Transporter {
	file := ts.Getenv("TRUSTED")
	if file == "" {
		return plainHTTP{}
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(ts.ReadFile(file))) {
		ts.Fatalf("no certificate in %s", file)
	}
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true,
	}}
}

// certificate makes a certificate for 127.0.0.1, and its key.
func certificate(ts *testscript.TestScript, _ bool, args []string) {
	made, authority, err := emulatortest.Certificate("127.0.0.1")
	ts.Check(err)
	key, err := x509.MarshalPKCS8PrivateKey(made.PrivateKey)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), authority, 0o600))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}), 0o600))
}

func isStorage(connection string) bool { return strings.Contains(connection, "QueueEndpoint=") }

// plainHTTP lets the admin client, which insists on HTTPS, speak to a server without.
type plainHTTP struct{}

// Do sends the request without TLS.
func (plainHTTP) Do(r *http.Request) (*http.Response, error) {
	r.URL.Scheme = "http"
	return http.DefaultClient.Do(r)
}

// impatient makes the SDK report an error instead of trying again.
var impatient = &azservicebus.ClientOptions{RetryOptions: azservicebus.RetryOptions{MaxRetries: -1}}

func sendToBus(ctx context.Context, connection, entity, text string) error {
	client, err := azservicebus.NewClientFromConnectionString(connection, impatient)
	if err != nil {
		return err
	}
	defer client.Close(ctx) //nolint:errcheck // what counts is whether the message was taken
	sender, err := client.NewSender(entity, nil)
	if err != nil {
		return err
	}
	return sender.SendMessage(ctx, &azservicebus.Message{Body: []byte(text)}, nil)
}

func receiveFromBus(ctx context.Context, connection, entity string) (string, error) {
	client, err := azservicebus.NewClientFromConnectionString(connection, impatient)
	if err != nil {
		return "", err
	}
	defer client.Close(ctx) //nolint:errcheck // as above
	receiver, err := client.NewReceiverForQueue(entity, nil)
	if err != nil {
		return "", err
	}
	messages, err := receiver.ReceiveMessages(ctx, 1, nil)
	if err != nil {
		return "", err
	}
	return string(messages[0].Body), receiver.CompleteMessage(ctx, messages[0], nil)
}

func sendToQueue(ctx context.Context, connection, queue, text string) error {
	client, err := azqueue.NewQueueClientFromConnectionString(connection, queue, nil)
	if err != nil {
		return err
	}
	_, err = client.EnqueueMessage(ctx, text, nil)
	return err
}

func receiveFromQueue(ctx context.Context, connection, queue string) (string, error) {
	client, err := azqueue.NewQueueClientFromConnectionString(connection, queue, nil)
	if err != nil {
		return "", err
	}
	got, err := client.DequeueMessage(ctx, nil)
	if err != nil || len(got.Messages) == 0 {
		return "", err
	}
	message := got.Messages[0]
	_, err = client.DeleteMessage(ctx, *message.MessageID, *message.PopReceipt, nil)
	return *message.MessageText, err
}
