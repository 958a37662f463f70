import { escapeHtml } from '@herald/runtime/text';
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
import { ERROR_CODES, renderCodes, renderPage, toHtml } from './pages.ts';
import type { Kit } from './kit.ts';

/** Stands in the page for the address of the service, which the request tells. */
export const ORIGIN = '{{origin}}';

/** A receiver in each language: its file in the examples of the kits, and what to type before and after. */
const RECEIVERS = [
  {
    language: 'Node',
    file: 'express.mjs',
    install: ({ nodeName }: Kit) => `npm install ${ORIGIN}/kit/${nodeName} express`,
    run: 'HERALD_SECRETS=whsec_… node express.mjs',
    about:
      'The kit verifies, types and deduplicates, and says why in its 401. It has handlers for Express, Fastify, Koa, NestJS, Next.js, Hono, fetch and Lambda, and needs nothing else. With several processes, give it `createRedisStore`.',
  },
  {
    language: 'Python',
    file: 'fastapi_app.py',
    install: ({ pythonName }: Kit) => `pip install ${ORIGIN}/kit/${pythonName} fastapi uvicorn`,
    run: 'HERALD_SECRETS=whsec_… uvicorn --port 3000 --workers 2 fastapi_app:app',
    about:
      'The kit verifies, types and deduplicates over several processes, and says why in its 401. It has handlers for FastAPI, Starlette, Flask and Django, and stores in SQLite, Redis and PostgreSQL.',
  },
  {
    language: 'Go',
    file: 'receiver.go',
    install: undefined,
    run: 'HERALD_SECRETS=whsec_… go run receiver.go',
    about: 'One file with the standard library alone. Any number of processes may share its folder (`STORE`).',
  },
  {
    language: 'PHP',
    file: 'receiver.php',
    install: undefined,
    run: 'HERALD_SECRETS=whsec_… php -S 127.0.0.1:3000 receiver.php',
    about: 'One file for PHP 8 and any server. Any number of processes may share its folder (`STORE`).',
  },
  {
    language: 'Ruby',
    file: 'config.ru',
    install: undefined,
    run: 'HERALD_SECRETS=whsec_… rackup -p 3000 config.ru',
    about: 'One file for any Rack server. Any number of processes may share its folder (`STORE`).',
  },
] as const;

/** The other receivers of the kits, by language: what each is for, and its file in the examples. */
const OTHERS: Readonly<Record<string, readonly (readonly [name: string, file: string])[]>> = {
  Node: [
    ['Fastify', 'fastify.mjs'],
    ['NestJS', 'nest.ts'],
    ['Next.js', 'route.mjs'],
    ['Hono', 'hono.mjs'],
    ['Koa', 'koa.mjs'],
    ['fetch', 'fetch.mjs'],
    ['Bun, Deno and Workers', 'worker.mjs'],
    ['Azure Functions', 'azure.mjs'],
    ['Lambda', 'lambda.mjs'],
  ],
  Python: [
    ['Flask', 'flask_app.py'],
    ['Django', 'django_app.py'],
    ['Lambda', 'lambda_handler.py'],
    ['no kit', 'receiver.py'],
  ],
};

const code = (text: string, label: string) =>
  `<pre tabindex="0" aria-label="${escapeHtml(label)}"><code>${escapeHtml(text)}</code></pre>`;

/** One that opens at a click. */
function renderOther(name: string, file: string, { examples }: Kit): string {
  const label = `With ${name}: ${file}`;
  return `<details><summary>${escapeHtml(label)}</summary>\n${code(examples[file] ?? '', label)}\n</details>`;
}

/** Tabs that need no script. */
function renderReceivers(kit: Kit | undefined): string {
  if (!kit) return '<p>The kits are not built: whoever runs this service types <code>npm run build</code>.</p>';
  const choices = RECEIVERS.map(
    ({ language }, index) =>
      `<label><input type="radio" name="language" id="in-${language}"${index === 0 ? ' checked' : ''}> ${language}</label>`,
  );
  const tabs = RECEIVERS.map(({ language, file, install, run, about }) => {
    const steps = [install?.(kit), `# put what follows into ${file}`, run].filter((line) => line !== undefined);
    return `<div class="tab" id="tab-${language}">
<p>${toHtml(about)}</p>
${code(steps.join('\n'), `Commands for ${language}`)}
${code(kit.examples[file] ?? '', `${file}, a receiver in ${language}`)}
${(OTHERS[language] ?? []).map(([name, other]) => renderOther(name, other, kit)).join('\n')}
</div>`;
  });
  return `<fieldset class="tabs"><legend>Language</legend>\n${choices.join('\n')}\n</fieldset>\n${tabs.join('\n')}`;
}

/** What the kit for Node brings to the machine of whoever develops. Undefined: it is not built. */
function renderTools(kit: Kit | undefined): string {
  if (!kit) return '';
  const commands = `npm install ${ORIGIN}/kit/${kit.nodeName}
npx --no-install herald-receiver listen --api ${ORIGIN} --key hrld_… --forward-to http://localhost:3000/hooks/herald
npx --no-install herald-receiver trigger task.done --forward-to http://localhost:3000/hooks/herald --secret whsec_…
npx --no-install herald-receiver verify request.txt --secret whsec_…`;
  return `<p>The kit for Node has commands that serve a receiver in any language. <code>listen</code> brings the events of
your workspace to a program on your machine, without a public URL, for whoever has an API key with the scope
<code>webhooks</code>. <code>trigger</code> sends it a sample. <code>verify</code> says whether the signatures of a
request that you saved hold, and if not why. <code>--no-install</code> keeps <code>npx</code> from a package of somebody
else where the kit isn't installed: none of our names is on a public registry.</p>
${code(commands, 'Commands of the kit for Node')}
<p>The files: <a href="/kit/${kit.nodeName}">${kit.nodeName}</a> for npm,
<a href="/kit/${kit.pythonName}">${kit.pythonName}</a> for pip.</p>`;
}

/** `/docs/receiving`: what whoever receives webhooks must know. The numbers are those of the code. */
export function renderReceivingPage(kit?: Kit): string {
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
<code>callback</code> when you create a Task. The answer has the signing secret, and no other answer does: keep it.
<a href="#verify">A receiver to copy</a> is below, in Node, Python, Go, PHP and Ruby.</p>
<h2 id="rules">Rules</h2>
<ul>
<li>A workspace has at most ${RECEIVER_LIMIT} receivers.</li>
<li>The URL starts with <code>https://</code> and has a public host. It is called exactly as it is shown.</li>
<li>Answer with any 2xx within ${durationText(DEFAULT_DELIVERY_TIMEOUT_MS)}, and do the work afterwards.</li>
<li>Whoever runs this service may send from fixed addresses, so that your firewall can let only those in: ask them.</li>
<li>A redirect is not followed, and counts as a failure.</li>
<li>The same delivery may come more than once, and deliveries may come in another <a href="#order">order</a>. Ignore a
<code>webhook-id</code> that you have processed. <code>sequence</code> has the order of a Task's events.</li>
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
<h2 id="verify">A receiver to copy</h2>
<p>Each checks both signatures over the raw body, ignores repeats, and answers 2xx only when your code has stored the
event. It starts with the secret that you got when you registered its URL. Without a public URL yet,
<a href="#samples"><code>listen</code></a> prints one, and brings every event to a program on your machine.</p>
${renderReceivers(kit)}
<h2 id="signatures">The two signatures</h2>
<dl>
<div><dt><code>x-service-signature</code></dt>
<dd><code>sha256=</code> and the HMAC-SHA256 of the raw body in lowercase hex. The key is the secret exactly as shown,
<code>whsec_</code> included. It proves who wrote the body.</dd></div>
<div><dt><code>webhook-signature</code></dt>
<dd><code>v1,</code> and the HMAC-SHA256 of <code>webhook-id.webhook-timestamp.body</code> in base64. The key is the
decoded base64 of the secret after <code>whsec_</code>. It also proves which delivery it is, and that it was sent within
the last five minutes. It follows <a href="https://www.standardwebhooks.com" rel="noreferrer">Standard Webhooks</a>, whose
libraries verify it.</dd></div>
</dl>
<p><strong>Check both</strong>, before you parse the body and in constant time. The first doesn't cover the id: somebody
who captured a request could send it again under a new one. So deduplicate by <code>webhook-id</code>, which is the
<code>x-service-delivery</code> of the same delivery, signed.</p>
<p>After you rotate a secret, the old one stays in force for the overlap that you choose. Until it ends,
<code>x-service-signature</code> is made with the old secret, and <code>webhook-signature</code> has a signature of
each.</p>
<h2 id="samples">Samples and tools</h2>
<p><a href="/docs#/Receivers/testReceiver"><code>POST /api/public/webhooks/{id}/test</code></a> with
<code>{"event": "task.done"}</code> sends a sample of that event, made and signed like a real one. The ids of its
transition and its Task start with <code>trn_sample</code> and <code>task_sample</code>; no real Task has such an id.</p>
${renderTools(kit)}
<p>The <a href="/console">console</a> shows every delivery with each attempt and what it means, sends tests, redelivers
and replays. Its page <a href="/console/verify">Verify a signature</a> finds out in your browser why one doesn't hold.</p>
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
<li>A 429 or 503 with <code>Retry-After</code> pauses what is sent to this receiver (of a callback: that delivery), for
at most ${durationText(policy.retryAfterLimitMs)}.</li>
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
<li>A replay keeps the order of what failed or was canceled.</li>
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
