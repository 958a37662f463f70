import type { CodeTable } from './code-table.ts';

/** What can keep an attempt from a status, in the order in which an attempt can fail. */
const CURRENT_ERRORS = {
  address_blocked: {
    meaning: "The URL leads to an address that isn't public, or to a port of another protocol.",
    action: 'Use a host whose addresses are all public. Operators open private ranges with `EGRESS_ALLOW_CIDRS`.',
  },
  dns_name_unknown: {
    meaning: "The host name doesn't exist.",
    action: 'Check the spelling of the host in the URL, and that the domain is still registered.',
  },
  dns_no_address: {
    meaning: 'The host name exists, and has no address.',
    action: 'Add an A or AAAA record for the host.',
  },
  dns_servers_failed: {
    meaning: 'The name servers of the domain fail, or refuse to answer.',
    action: 'Check the zone at its name servers, and DNSSEC if it is signed.',
  },
  connection_refused: {
    meaning: 'Nothing listens at the port of the URL.',
    action: 'Start the server, or check its port and its firewall.',
  },
  connection_reset: {
    meaning: 'The connection was closed before the headers of the answer were complete.',
    action: 'Look for a crash, a restart or the limit of a proxy at that time.',
  },
  host_unreachable: {
    meaning: 'No route leads to the address of the host.',
    action: 'Check that the A and AAAA records name addresses that are in use.',
  },
  connection_failed: {
    meaning: 'The connection failed in another way.',
    action: 'Call the URL from outside of your network, and look at firewalls and load balancers.',
  },
  tls_expired: {
    meaning: 'The certificate, or one that it depends on, has expired.',
    action: 'Renew the certificate, and let the server load it.',
  },
  tls_not_yet_valid: {
    meaning: "The certificate, or one that it depends on, isn't valid yet.",
    action: 'Check the clock of the machine that made the certificate, or wait until it is valid.',
  },
  tls_name_mismatch: {
    meaning: 'The certificate is for another host.',
    action: 'Install a certificate that names the host of the URL.',
  },
  tls_self_signed: {
    meaning: 'The certificate is self-signed.',
    action: 'Use a certificate of a public authority.',
  },
  tls_unknown_issuer: {
    meaning: "The certificate leads to an authority that isn't trusted.",
    action: 'Use a certificate of a public authority. Operators add a private one with `EGRESS_CA_FILE`.',
  },
  tls_incomplete_chain: {
    meaning:
      "The server sent its certificate without the one that issued it, and the issuer isn't a trusted authority by itself.",
    action:
      'Let the server send the intermediate certificates too (`fullchain.pem`). Operators add a private authority with `EGRESS_CA_FILE`.',
  },
  tls_weak_certificate: {
    meaning: 'The key of the certificate, or of one that it depends on, is too short, or its digest too weak.',
    action: 'Use a key of at least 2048 bits (RSA) or 256 bits (EC), and a certificate that is signed with SHA-256.',
  },
  tls_wrong_purpose: {
    meaning: 'The certificate is not one for servers.',
    action: 'Use a certificate whose extended key usage has `serverAuth`.',
  },
  tls_protocol: {
    meaning: 'The server has no version of TLS, no cipher or no HTTP version in common with Herald.',
    action: 'Let it accept TLS 1.2 or 1.3 with usual ciphers, and HTTP/1.1.',
  },
  tls_client_certificate: {
    meaning: 'The server asks for a client certificate. Herald has none.',
    action: 'Let it take requests without one at this URL, and verify the signature instead.',
  },
  tls_reset: {
    meaning: 'The connection was closed during the TLS handshake.',
    action: 'Look at the log of the server, and whether it knows the host name (SNI).',
  },
  tls_not_tls: {
    meaning: "The server doesn't speak TLS at this port.",
    action: 'Use the port at which the server answers HTTPS.',
  },
  tls_failed: {
    meaning: 'The TLS handshake failed in another way.',
    action: 'Look at the log of the server. Operators find the code of OpenSSL in the log of the attempt.',
  },
  malformed_answer: {
    meaning:
      'The answer is not HTTP/1.1, has more than 64 KiB of headers or 32 answers of 1xx before it, or a status that is not from 100 to 599; or the server sends something else without end.',
    action: 'Look at what the server, or a proxy in front of it, sends.',
  },
  timeout_lookup: {
    meaning: "The host name wasn't resolved in time: the name servers of the domain gave no answer.",
    action: 'Check the name servers of the domain.',
  },
  timeout_connect: {
    meaning: 'The deadline passed before the server accepted the connection.',
    action: 'Check that the firewall lets connections from outside through.',
  },
  timeout_tls: {
    meaning: 'The deadline passed during the TLS handshake.',
    action: 'Check the load of the server, and that it speaks TLS at this port.',
  },
  timeout_response: {
    meaning: 'The deadline passed before the headers of the answer came.',
    action: 'Answer first, and do the work afterwards.',
  },
} as const satisfies CodeTable;

/** Codes of former releases, which old attempts have. */
const FORMER_ERRORS = {
  dns_failed: {
    meaning: 'The host name had no address. Releases up to 0.2 said so of every look-up that failed.',
    action: 'Check the host name in the URL, and its A and AAAA records.',
  },
  tls_untrusted: {
    meaning:
      "The certificate didn't lead to a trusted authority. Releases up to 0.2 said so of self-signed ones and of incomplete chains too.",
    action: 'Use a certificate of a public authority, and send all intermediate ones.',
  },
  timeout_body: {
    meaning:
      'The deadline passed before the body of the answer ended. Releases up to 0.2 took that for a failure; today the status decides.',
    action: 'Send a short answer, and end it.',
  },
} as const satisfies CodeTable;

/** Every error code of an attempt that got no usable answer. */
export const ATTEMPT_ERRORS = { ...CURRENT_ERRORS, ...FORMER_ERRORS } as const satisfies CodeTable;

/** Stable error code of an attempt that is made now. */
export type CurrentAttemptError = keyof typeof CURRENT_ERRORS;
/** Stable error code of an attempt. */
export type AttemptError = keyof typeof ATTEMPT_ERRORS;

/** What was odd about an answer whose status was read. It changes nothing about the delivery. */
export const BODY_NOTES = {
  odd_headers: {
    meaning:
      'Its headers broke rules of HTTP/1.1: a length twice or beside chunks, a folded line, a line that ends with LF alone, blanks around a name, or another version.',
    action: 'Other clients may refuse such an answer. Look at what writes the headers, or at a proxy in between.',
  },
  body_not_allowed: {
    meaning: 'A 204, 205 or 304 came with a body, or announced one.',
    action: 'Answer with 200, or without a body.',
  },
  extra_bytes: {
    meaning: 'It sent more bytes than it said.',
    action: 'Count `Content-Length` in bytes, not in characters, and look for output behind the answer.',
  },
  body_malformed: {
    meaning: 'Its body was not in the chunks that it announced.',
    action: 'Look at what writes `Transfer-Encoding`, or at a proxy in between.',
  },
  body_cut: {
    meaning: 'The connection was closed before its body was complete.',
    action: 'Look for a crash, or for a `Content-Length` that is too long.',
  },
  body_stalled: {
    meaning: 'Its body had not ended when the deadline passed.',
    action: 'Send a short answer, and end it: until then the connection is held.',
  },
  body_too_long: {
    meaning: 'Its body was longer than 64 KiB, or came in thousands of parts. The rest was not read.',
    action: 'Send a short answer: each one costs a new connection.',
  },
} as const satisfies CodeTable;

/** What was odd about an answer. */
export type BodyNote = keyof typeof BODY_NOTES;
