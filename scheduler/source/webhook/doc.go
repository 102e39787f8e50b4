// Package webhook verifies the requests of webhooks, and turns them into events.
//
//	scheme    header                         signed text          ID of the event
//	standard  Webhook-Signature: v1,base64   id.timestamp.body    Webhook-Id
//	github    X-Hub-Signature-256: sha256=   body                 X-Github-Delivery
//	stripe    Stripe-Signature: t=,v1=hex    timestamp.body       field id of the body
//	hmac      as the source says             body                 none
//	basic     Authorization: Basic           –                    none
//	token     as the source says             –                    none
//
// GitHub signs neither the ID nor the other headers: a verified request can have another ID and type of event.
//
// Guarantees:
//
//  1. All comparisons with a secret take constant time.
//  2. A signed timestamp that differs from the time of receipt by more than the tolerance of the source is refused. The
//     schemes github, hmac, basic and token have no timestamp.
//  3. An event never has a header with a credential, a signature or the identity of the sender, nor a header that NATS or
//     Carillon would obey.
package webhook
