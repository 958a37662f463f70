import {
  createRetryPolicy,
  DEFAULT_DELIVERY_TIMEOUT_MS,
  DEFAULT_DISABLE_AFTER_MS,
  DEFAULT_ORDERING_TIMEOUT_MS,
  DEFAULT_SCHEDULE_MS,
  DISABLE_AT_FAILURES,
  EVENT_NAMES,
  RECEIVER_LIMIT,
  WEBHOOK_PAYLOADS,
} from '@herald/core';
import { durationText, EVENT_MEANINGS, headersOf } from './create-document.ts';
import { ERROR_CODES, escapeHtml, renderCodes, renderPage, toHtml } from './pages.ts';

/** `/docs/receiving`: what whoever receives webhooks must know. The numbers are those of the code. */
export function renderReceivingPage(): string {
  const policy = createRetryPolicy();
  const jitter = `±${policy.jitter * 100} %`;

  const events = EVENT_NAMES.map(
    (name) => `<div><dt><code>${name}</code></dt>\n<dd>${toHtml(EVENT_MEANINGS[name])}</dd></div>`,
  );
  const headers = Object.entries(headersOf('task.done').shape).flatMap(([name, schema]) => {
    const description = schema.description;
    return description === undefined
      ? []
      : [`<div><dt><code>${name}</code></dt>\n<dd>${toHtml(description)}</dd></div>`];
  });
  const tries = DEFAULT_SCHEDULE_MS.map(
    (waitMs, index) => `<tr><td>${index + 2}</td><td>${durationText(waitMs)}</td></tr>`,
  );
  const example = JSON.stringify(WEBHOOK_PAYLOADS['task.requires_action'].meta()?.examples?.[0], null, 2);
  return renderPage(
    '/docs/receiving',
    'Receiving webhooks',
    `<p>Herald sends a signed <code>POST</code> request to your URL for every event to which you subscribe. Register the URL
with <a href="/docs#/Receivers/registerReceiver"><code>POST /api/public/webhooks</code></a>, or give a
<code>callback</code> when you create a Task. The answer has the signing secret, and no other answer does: keep it.</p>
<h2 id="rules">Rules</h2>
<ul>
<li>A workspace has at most ${RECEIVER_LIMIT} receivers.</li>
<li>The URL starts with <code>https://</code> and has a public host. It is called exactly as it is shown.</li>
<li>Answer with any 2xx within ${durationText(DEFAULT_DELIVERY_TIMEOUT_MS)}, and do the work afterwards.</li>
<li>Whoever runs this service may send from fixed addresses, so that your firewall can let only those in: ask them.</li>
<li>A redirect is not followed, and counts as a failure.</li>
<li>The same delivery may come more than once, and deliveries may come in another <a href="#order">order</a>. Ignore an
<code>x-service-delivery</code> that you have processed. <code>sequence</code> has the order of a Task's events.</li>
</ul>
<h2 id="events">Events</h2>
<dl>
${events.join('\n')}
</dl>
<p>The body of a <code>task.requires_action</code>. Other events have fewer fields; the <a href="/docs">API page</a> has
each. Ignore fields that you don't know.</p>
<pre tabindex="0"><code>${escapeHtml(example)}</code></pre>
<h2 id="headers">Headers</h2>
<dl>
${headers.join('\n')}
</dl>
<p>A request also has the headers that you give as <code>headers</code>, for your gateway: at most ten. Herald keeps them
encrypted and shows only their names. They stay with the host and port for which you gave them: when you change the URL
to another, give them again. Text that your answer repeats of them is hidden where Herald shows the answer.</p>
<h2 id="verify">Verify a delivery</h2>
<p>Compute the HMAC-SHA256 of the raw body, before you parse it. The key is the secret exactly as shown,
<code>whsec_</code> included. Compare it with <code>x-service-signature</code> in constant time. In Node:</p>
<pre tabindex="0"><code>${escapeHtml(VERIFY_EXAMPLE)}</code></pre>
<p>The headers <code>webhook-id</code>, <code>webhook-timestamp</code> and <code>webhook-signature</code> follow
<a href="https://www.standardwebhooks.com" rel="noreferrer">Standard Webhooks</a>: its libraries verify them, and refuse
a request that somebody captured and sends again later.</p>
<p>After you rotate a secret, the old one stays in force for the overlap that you choose. Until it ends,
<code>x-service-signature</code> is made with the old secret, and <code>webhook-signature</code> has a signature of
each.</p>
<h2 id="retries">Retries</h2>
<p>Any answer but a 2xx is a failure. Herald tries again after these waits, each ${jitter}:</p>
<table>
<thead><tr><th scope="col">Try</th><th scope="col">Wait before it</th></tr></thead>
<tbody>
${tries.join('\n')}
</tbody>
</table>
<ul>
<li>No try begins later than ${durationText(policy.giveUpAfterMs)} after the event, or after the hours that you set as
<code>maxRetryHours</code> on a receiver (1 to 120). Then the delivery is <code>failed</code> with the reason
<code>too_old</code>; you can still redeliver or replay it.</li>
<li>A 429 or 503 with <code>Retry-After</code> pauses all deliveries to the host, for at most
${durationText(policy.retryAfterLimitMs)}.</li>
<li>A receiver with a <code>rateLimit</code> gets no more than that in a second, after a quiet time a burst of one
second's worth. What waits for it spends no try.</li>
<li>A 410 disables the receiver or callback at once. So do at least ${DISABLE_AT_FAILURES} failures in a row over
${durationText(DEFAULT_DISABLE_AFTER_MS)}. Enable it again with
<a href="/docs#/Receivers/changeReceiver"><code>PATCH /api/public/webhooks/{id}</code></a>, or a callback with
<a href="/docs#/Tasks/changeCallback"><code>PATCH /tasks/{id}/callback</code></a>.</li>
</ul>
<p>These are the defaults. Whoever runs this service may have set another schedule, one for callbacks, or another
deadline.</p>
<h2 id="order">Order</h2>
<p>With <code>ordering: "task"</code>, a receiver or callback gets the events of one Task one after the other, by the
<code>sequence</code> in the body. Other Tasks don't wait.</p>
<ul>
<li>The next event is sent when the one before has ended as <code>delivered</code>, <code>failed</code> or
<code>canceled</code>. An earlier one may come again after that, because a repeat is always possible.</li>
<li>An event waits for <code>orderingTimeout</code> at most, ${durationText(DEFAULT_ORDERING_TIMEOUT_MS)} by default. Then it is sent with the header
<code>x-service-ordering: released</code>. So is one for which somebody asks by a redelivery. The earlier ones may still
come.</li>
<li>An earlier event that <code>failed</code> leaves a gap in <code>sequence</code>, as do events to which you don't
subscribe. Read the Task with <code>GET /tasks/{id}</code> if you need what is missing.</li>
<li>A replay keeps the order of what it sends.</li>
</ul>
<h2 id="errors">Why an attempt failed</h2>
<p><a href="/docs#/Deliveries/readDelivery"><code>GET /api/public/deliveries/{id}</code></a> shows what was sent, and each
attempt with the status of your answer, or with one of these codes.
<a href="/docs#/Receivers/testReceiver"><code>POST /api/public/webhooks/{id}/test</code></a> makes an attempt now, also
with a sample of any event, and shows the same.</p>
${renderCodes('attempts', ERROR_CODES.attempts)}
<p><a href="/errors">All error codes</a></p>`,
  );
}

/** How a receiver verifies a delivery, to copy. A test runs it. */
export const VERIFY_EXAMPLE = `import { createHmac, timingSafeEqual } from 'node:crypto';

// rawBody: the bytes as they came. signature: the header x-service-signature.
export function isGenuine(rawBody, signature, secret) {
  const digest = createHmac('sha256', secret).update(rawBody).digest('hex');
  const expected = Buffer.from(\`sha256=\${digest}\`);
  const given = Buffer.from(signature ?? '');
  return given.length === expected.length && timingSafeEqual(given, expected);
}
`;
