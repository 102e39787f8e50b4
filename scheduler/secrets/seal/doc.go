// Package seal encrypts the secrets of jobs for the store.
//
// # What is sealed
//
// Every member of a job that is a secret by its nature, whatever the action:
// passwords, tokens and signatures (sasToken, sasKey, password, pfx, secret,
// credentials, token), the keys of webhooks, and the headers and application
// properties that are named like credentials (document.IsCredential has the
// rule). Besides, every shared secret, which jobs name as
//
//	"password": {"secretRef": "billing-password"}
//
// They lie sealed in the bucket of jobs and in that of shared secrets. Batons,
// history, results of specs, logs and metrics hold none at all, and no API
// shows one: whoever gets a job does not see its secrets, and patches it
// without touching them.
//
// So that nothing is lost when a job is put back as it was got, a document that
// is put must have something for every secret of the job: the secret, another
// one, or null to drop it, or what it stands in. That does not go for an action
// of another type, nor for an errorAction that is left out as a whole. And so
// that whoever may change a job cannot read its secrets by having them sent to a
// host of his own, a patch that gives an action another host, namespace, account,
// server or token server, or the same one without TLS, is refused unless it
// brings the action's secrets itself. Paths, queues and subjects are not looked
// at. Nor are shared secrets: whoever may write jobs may use any of them by its
// name, and so send it anywhere.
//
// Not sealed is everything else of a job: its payload, its other headers and
// its URL. A secret in one of these is no secret. A spec that is published lies
// in its stream in the clear until a scheduler takes it in and overwrites it;
// in a cluster the Raft logs of that stream keep it until they are compacted.
// Where that is too long, put the job over REST or the micro service, which
// store nothing by the way, or let it name a shared secret. Memory is not
// protected, nor are connections that do not use TLS.
//
// # The sealed text
//
// A sealed text is
//
//	v1.<key id>.<base64url of nonce and ciphertext>
//
// made with XChaCha20-Poly1305 (RFC 8439 with the 24-byte nonce of
// draft-irtf-cfrg-xchacha) under a random nonce. Version, key id and the place
// where the secret stands are authenticated with it: a sealed text that was
// changed, or copied to another job, another member or another name, does not
// open.
//
// # Keys
//
// A [Keyring] holds one key or more. The first seals; every one opens. A key
// file has one key on each line, an id and 32 bytes in base64:
//
//	# made by carillon secrets keygen
//	2026-03:q83vEjRWeJq83vEjRWeJq83vEjRWeJq83vEjRWeJq80=
//
// Every scheduler of a store needs the same keys. To change the key, without a
// moment in which something cannot be opened:
//
//  1. Add a new key at the end of every key file, and restart the schedulers
//     one after the other: all can open with it now.
//  2. Move it to the front, and restart again: all seal with it now.
//  3. Rotate (carillon secrets rotate). Every job and every shared secret is
//     sealed with the first key by compare-and-set; nothing else of a job
//     changes. It can be repeated at any time.
//  4. When nothing failed, and occurrences that were under way have ended,
//     remove the old key and restart. Occurrences under way may still read a
//     definition as it was before an edit; the store keeps a few of these, as
//     they were sealed.
//
// A rotation does not take back what somebody has read with a stolen key, nor
// what lies in backups: after a theft set new secrets too.
//
// # When the key is lost
//
// Secrets that were sealed with it are lost; everything else is there. A
// scheduler without the key starts and serves all jobs. One whose secret it
// cannot open can be got, patched, disabled and deleted, and keeps the sealed
// text, so that it works again when the key is back; its attempts fail and say
// why. To go on without the key, start with a new one and put or patch the
// secrets anew, and set the shared ones. Keep a copy of the key apart from the
// backups of the store: together they are as good as the secrets in the clear.
//
// No error of this package, and nothing that prints one of its values, shows a
// key or a secret.
package seal
