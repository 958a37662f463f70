/** What the page that verifies a signature says. */
export const verifyTexts = {
  title: 'Verify a signature',
  intro: 'Paste what your endpoint received. The page computes in your browser; it sends nothing, and keeps nothing.',
  headers: 'Headers',
  headersHint: 'By line, as JSON or as curl’s -H. At least x-service-signature or webhook-signature.',
  body: 'Body',
  bodyHint: 'The raw body, exactly as it came: with every line break and space as they were.',
  secret: 'Signing secret',
  secretHint: 'As it was shown, with whsec_. During a rotation both, with a blank between.',
  computed: 'What your code computed (optional)',
  computedHint: 'The page finds out what your code does differently.',
  needsHttps: 'Browsers compute signatures only on pages that came over HTTPS. Open the console over HTTPS.',
  submit: 'Verify',
  holds: 'The signature holds.',
  holdsNot: 'The signature doesn’t hold.',
  computedNot: 'The signature holds. What your code computed is another one.',
  sentNot: 'It was signed with another secret.',
  sentHolds: 'It was signed with this secret.',
  attempt: (number: number) => `Attempt ${number} of`,
  attemptHint:
    'Its signatures are not kept, but by which secret they were made. Paste the secret of your receiver: the page says whether it is that one, and what the attempt carried.',
  noKeys: 'This attempt made no connection, or is too old: nothing tells how it was signed.',
} as const;

/** Each reason in a sentence, and what to do about it. */
export const verifyReasons: Readonly<Record<string, string>> = {
  headers_missing:
    'The headers have neither x-service-signature nor webhook-signature. Paste all headers of the request; a proxy that strips them must let them through.',
  secret_missing: 'Paste the signing secret. It was shown when the receiver was added, or its secret rotated.',
  secret_form: 'The secret isn’t as Herald showed it: whsec_ and base64, without quotes and blanks. Copy it whole.',
  service_holds: 'x-service-signature is right: Herald signed this body with this secret.',
  service_missing: 'x-service-signature is not among the headers, so only webhook-signature was looked at.',
  service_malformed: 'x-service-signature is not sha256= and 64 lowercase hex digits. Something rewrote the header.',
  service_old_secret:
    'x-service-signature was made with another secret, while webhook-signature holds. The secret was rotated, and until the overlap ends x-service-signature is made with the old one: accept both secrets.',
  standard_holds: 'webhook-signature is right: it also proves the id and the time.',
  standard_missing:
    'webhook-id, webhook-timestamp or webhook-signature is missing, so Standard Webhooks was not looked at.',
  too_old:
    'webhook-timestamp is more than five minutes from now. Libraries refuse that, to keep out captured requests. For a delivery of an hour ago that is as it should be; for a new one, set the clock of your server.',
  ids_differ: 'x-service-delivery and webhook-id differ. Herald sends the same in both: somebody changed one.',
  length_differs:
    'The body has another length than content-length says: it was changed or cut on its way to this page, or to your code.',
  other_secret:
    'It was made with another secret, or over another body. Check that the secret is that of this very receiver, and not an older one; each receiver and each callback has its own. Then check that the body is byte by byte the one that came.',
  key_decoded:
    'It was made with the decoded base64 of the secret. x-service-signature uses the whole text as the key, whsec_ included.',
  key_unprefixed: 'It was made with the secret without whsec_. The prefix belongs to the key of x-service-signature.',
  key_padded: 'It was made with a secret that ends with a line break. Trim the secret where it is read.',
  key_shown_whole:
    'It was made with the whole text of the secret. webhook-signature uses the decoded base64 after whsec_.',
  body_newline_removed:
    'It holds without the line break at the end of the body: what you pasted has one more than what was signed.',
  body_newline_added: 'It holds with a line break at the end of the body: what you pasted lacks it.',
  body_trimmed: 'It holds without the blanks around the body: they came later.',
  body_crlf: 'It holds with Windows line ends: something changed the line ends of the body.',
  body_minified: 'It holds over the same JSON without blanks: what you pasted was parsed and written again.',
  body_indented: 'It holds over the same JSON with indentation: what you pasted was parsed and written again.',
  sent_right:
    'Herald signed this attempt with this secret. A receiver that refuses it has another one, or changes the body before it verifies.',
  sent_former:
    'This is the former secret: the attempt was made while a rotation was running. x-service-signature is made with it, webhook-signature with both.',
  sent_newer:
    'This is the new secret, and the attempt was made while a rotation was running: x-service-signature is made with the former one, so a receiver that has only the new one refuses it. End the rotation on the page of the receiver, or accept both.',
  sent_other:
    'Herald signed this attempt with another secret. Each receiver and each callback has its own, and a rotation makes a new one. Below are the ids of Herald’s and of yours.',
  sent_service: 'What it carried, to compare with what your endpoint got.',
  sent_standard: 'And as Standard Webhooks, over the id and the time too.',
  computed_right: 'What your code computed is right. Compare it with the header as it came, in constant time.',
  computed_unknown:
    'What your code computed comes from another secret, another body, or another algorithm than HMAC-SHA256.',
  computed_key_decoded:
    'Your code decodes the base64 of the secret. For x-service-signature use the whole text as the key, whsec_ included.',
  computed_key_unprefixed: 'Your code cuts whsec_ off the secret. For x-service-signature it belongs to the key.',
  computed_key_padded: 'Your code’s secret ends with a line break. Trim it where it is read.',
  computed_key_shown:
    'Your code uses the whole text of the secret. For webhook-signature decode the base64 after whsec_.',
  computed_body_newline_removed: 'Your code’s body lacks the line break at the end.',
  computed_body_newline_added: 'Your code’s body has one more line break at its end.',
  computed_body_trimmed: 'Your code trims the body. Sign the raw bytes.',
  computed_body_crlf: 'Your code’s body has Windows line ends. Sign the raw bytes.',
  computed_body_minified: 'Your code parses the JSON and writes it again. Sign the raw bytes, before any parser.',
  computed_body_indented: 'Your code parses the JSON and writes it again. Sign the raw bytes, before any parser.',
};
