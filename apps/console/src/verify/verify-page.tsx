import { useState } from 'preact/hooks';
import { Link, useSearchParams } from 'wouter-preact';
import { type Schemas, serverNow } from '../api/client.ts';
import { useDelivery } from '../deliveries/queries.ts';
import { verifyReasons, verifyTexts } from '../texts/verify-texts.ts';
import { Field } from '../ui/field.tsx';
import { Loaded } from '../ui/loaded.tsx';
import { judgeSignature, readBody, readHeaders, type Finding } from './judge-signature.ts';

/** Says whether a signature holds, and if not why. Nothing that is typed here leaves the page. */
export function VerifyPage() {
  const [query] = useSearchParams();
  const id = query.get('delivery');
  return (
    <>
      <header class="page-head">
        <div>
          <h1>{verifyTexts.title}</h1>
          <p class="quiet">{verifyTexts.intro}</p>
        </div>
      </header>
      {id === null ? <VerifyForm /> : <VerifyAttempt key={id} id={id} number={Number(query.get('attempt'))} />}
    </>
  );
}

/** The form, filled with the request of an attempt that Herald made. */
function VerifyAttempt({ id, number }: { readonly id: string; readonly number: number }) {
  return (
    <Loaded of={useDelivery(id)}>
      {(delivery) => {
        const attempt = delivery.attempts[number - 1] ?? delivery.attempts.at(-1);
        return (
          <>
            <p class="notice">
              {verifyTexts.attempt(attempt ? delivery.attempts.indexOf(attempt) + 1 : 0)}{' '}
              <Link href={`/console/deliveries/${id}`} className="mono">
                {id}
              </Link>
              . {attempt?.keyIds ? verifyTexts.attemptHint : verifyTexts.noKeys}
            </p>
            <VerifyForm first={fill(delivery, attempt)} keyIds={attempt?.keyIds} />
          </>
        );
      }}
    </Loaded>
  );
}

const EMPTY = { headers: '', body: '', secret: '', computed: '' };

/** The request shows the time of the last attempt. */
function fill({ request }: Schemas['DeliveryWithAttempts'], attempt: Schemas['Attempt'] | undefined): typeof EMPTY {
  const time = attempt && { 'webhook-timestamp': String(Math.floor(Date.parse(attempt.at) / 1_000)) };
  const lines = Object.entries({ ...request.headers, ...time }).map(([name, value]) => `${name}: ${value}`);
  return { ...EMPTY, headers: lines.join('\n'), body: request.body ?? '' };
}

type VerifyFormProps = { readonly first?: typeof EMPTY; readonly keyIds?: readonly string[] | undefined };

function VerifyForm({ first = EMPTY, keyIds }: VerifyFormProps) {
  const [typed, setTyped] = useState(first);
  const [findings, setFindings] = useState<readonly Finding[]>();
  const type = (name: keyof typeof EMPTY, text: string) => {
    setTyped({ ...typed, [name]: text });
    setFindings(undefined);
  };
  // Browsers compute signatures only on pages that came over HTTPS, or from this machine.
  if (!isSecureContext) return <p class="notice">{verifyTexts.needsHttps}</p>;
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const { headers, body, secret, computed } = typed;
    const secrets = secret.split(/[\s,]+/).filter(Boolean);
    const pasted = { headers: readHeaders(headers), body: readBody(body) };
    setFindings(await judgeSignature({ ...pasted, secrets, computed, keyIds, now: serverNow() }));
  };
  const pasteArea = (name: 'headers' | 'body', label: string, hint: string | undefined) => (
    <Field label={label} hint={hint}>
      {(ids) => (
        <textarea
          {...ids}
          class="mono"
          rows={8}
          spellcheck={false}
          value={typed[name]}
          onInput={({ currentTarget }) => {
            type(name, currentTarget.value);
          }}
        />
      )}
    </Field>
  );
  return (
    <form class="columns verify" onSubmit={(event) => void submit(event)}>
      <div>
        {pasteArea('headers', verifyTexts.headers, keyIds ? undefined : verifyTexts.headersHint)}
        {pasteArea('body', verifyTexts.body, verifyTexts.bodyHint)}
      </div>
      <div>
        <SecretField
          label={verifyTexts.secret}
          hint={verifyTexts.secretHint}
          value={typed.secret}
          onType={(text) => {
            type('secret', text);
          }}
        />
        <SecretField
          label={verifyTexts.computed}
          hint={verifyTexts.computedHint}
          value={typed.computed}
          onType={(text) => {
            type('computed', text);
          }}
        />
        <button type="submit" class="button button-main">
          {verifyTexts.submit}
        </button>
        <div aria-live="polite">{findings && <Findings findings={findings} />}</div>
      </div>
    </form>
  );
}

type SecretFieldProps = {
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly onType: (text: string) => void;
};

/** One line that the browser neither remembers nor checks. */
function SecretField({ label, hint, value, onType }: SecretFieldProps) {
  return (
    <Field label={label} hint={hint}>
      {(ids) => (
        <input
          {...ids}
          class="mono"
          type="text"
          autocomplete="off"
          spellcheck={false}
          value={value}
          onInput={({ currentTarget }) => {
            onType(currentTarget.value);
          }}
        />
      )}
    </Field>
  );
}

function Findings({ findings }: { readonly findings: readonly Finding[] }) {
  const wrong = findings.filter(({ tone }) => tone === 'bad');
  const isSent = findings.some(({ reason }) => reason.startsWith('sent_'));
  // What the receiver computed says nothing of what Herald sent.
  const holds = wrong.every(({ reason }) => reason.startsWith('computed_'));
  const { sentHolds, sentNot, holdsNot, computedNot } = verifyTexts;
  const verdict = holds ? (isSent ? sentHolds : verifyTexts.holds) : isSent ? sentNot : holdsNot;
  return (
    <div class={`findings summary ${wrong.length === 0 ? 'summary-good' : 'summary-bad'}`}>
      <p>
        <strong>{holds && wrong.length > 0 ? computedNot : verdict}</strong>
      </p>
      <ul>
        {findings.map(({ tone, reason, code }) => (
          <li class={`finding-${tone}`}>
            {verifyReasons[reason]}
            {code !== undefined && (
              <>
                {' '}
                <code>{code}</code>
              </>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}
