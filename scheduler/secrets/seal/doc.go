// Package seal encrypts the secrets of jobs for the store.
//
// # Scope
//
// Seal applies to every secret field of a job, whatever the action: passwords, tokens and signatures (sasToken, sasKey,
// password, pfx, secret, credentials, token), keys of webhooks, and headers and application properties with the names
// of credentials (document.IsCredential). It also applies to every shared secret, which jobs reference as
//
//	"password": {"secretRef": "billing-password"}
//
// The sealed texts are stored in the buckets of jobs and of shared secrets. Batons, history, results of specs, logs and
// metrics contain no secrets, and no API returns them: a client that gets a job does not see its secrets, and can patch
// it without changing them.
//
// Two rules protect secrets in updates:
//
//   - A document that replaces a job must mention every secret of the job, or an object around it: the same or a new
//     value, or null to remove it. This prevents loss when a client puts a job as it got it. Exceptions: an action of
//     another type, and an errorAction that is omitted as a whole.
//   - A patch that changes an action's host, namespace, account, server or token server, or removes TLS, must bring the
//     action's secrets. This prevents a client from reading secrets by redirecting them to its own host. Paths, queues
//     and subjects are not checked. Shared secrets are not protected: a client that may write jobs can use any of them
//     by name, and so send it anywhere.
//
// The payload, other headers and the URL are not sealed; do not put secrets into them. A published spec is stored in
// its stream in clear text until a scheduler ingests and overwrites it. In a cluster, the Raft logs of that stream keep
// it until they are compacted. If that is too long, use REST or the micro service, which store no requests, or refer to
// a shared secret. Memory and connections without TLS are not protected.
//
// # Format
//
// A sealed text is
//
//	v1.<key id>.<base64url of nonce and ciphertext>
//
// encrypted with XChaCha20-Poly1305 (RFC 8439 with the 24-byte nonce of draft-irtf-cfrg-xchacha) and a random nonce.
// Version, key ID and the secret's place are authenticated: a sealed text that was changed, or copied to another job,
// field or name, does not open.
//
// # Keys
//
// A [Keyring] holds one or more keys. The first seals; all open. A key file has one key per line, an ID and 32 bytes in
// base64:
//
//	# made by carillon secrets keygen
//	2026-03:q83vEjRWeJq83vEjRWeJq83vEjRWeJq83vEjRWeJq80=
//
// All schedulers of a store need the same keys. To rotate the key without downtime:
//
//  1. Append the new key to every key file, and restart the schedulers one by one. Now all can open with it.
//  2. Move it to the front, and restart again. Now all seal with it.
//  3. Run carillon secrets rotate. It seals every job and shared secret with the first key by compare-and-set, and
//     changes nothing else of a job. You can repeat it at any time.
//  4. When it reports no failure, and the occurrences that were in progress have ended, remove the old key and restart.
//     Occurrences in progress may still read an earlier revision of their definition; the store keeps a few of these
//     with the old seal.
//
// A rotation does not protect secrets that were already read with a stolen key, or that are in backups. After a theft,
// replace the secrets too.
//
// # Lost keys
//
// Secrets sealed with a lost key are lost; all other data remains. A scheduler without the key starts and serves all
// jobs. You can get, patch, disable and delete a job whose secret it cannot open. The job keeps the sealed text and
// works again when the key is back; until that time, its attempts fail with the reason. To continue without the key,
// start with a new one, put or patch the secrets again, and set the shared ones. Keep a copy of the key apart from
// backups of the store: together they equal the secrets in clear text.
//
// No error and no printed value of this package shows a key or a secret.
package seal
