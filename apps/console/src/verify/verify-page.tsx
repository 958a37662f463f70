import { useState } from 'preact/hooks';
import { serverNow } from '../api/server-clock.ts';
import { verifyReasons, verifyTexts } from '../texts/verify-texts.ts';
import { Field } from '../ui/field.tsx';
import { judgeSignature, type Finding } from './judge-signature.ts';
import { readHeaders } from './read-headers.ts';

const EMPTY = { headers: '', body: '', secret: '', computed: '' };

/** Says whether a signature holds, and if not why. Nothing that is typed here leaves the page. */
export function VerifyPage() {
  const [typed, setTyped] = useState(EMPTY);
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
    setFindings(await judgeSignature({ headers: readHeaders(headers), body, secrets, computed, now: serverNow() }));
  };
  return (
    <>
      <header class="page-head">
        <div>
          <h1>{verifyTexts.title}</h1>
          <p class="quiet">{verifyTexts.intro}</p>
        </div>
      </header>
      <form class="columns verify" onSubmit={(event) => void submit(event)}>
        <div>
          <Field label={verifyTexts.headers} hint={verifyTexts.headersHint}>
            {(ids) => (
              <textarea
                {...ids}
                class="mono"
                rows={8}
                spellcheck={false}
                value={typed.headers}
                onInput={({ currentTarget }) => {
                  type('headers', currentTarget.value);
                }}
              />
            )}
          </Field>
          <Field label={verifyTexts.body} hint={verifyTexts.bodyHint}>
            {(ids) => (
              <textarea
                {...ids}
                class="mono"
                rows={8}
                spellcheck={false}
                value={typed.body}
                onInput={({ currentTarget }) => {
                  type('body', currentTarget.value);
                }}
              />
            )}
          </Field>
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
    </>
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
  const holds = findings.every(({ tone }) => tone !== 'bad');
  return (
    <div class={`findings summary ${holds ? 'summary-good' : 'summary-bad'}`}>
      <p>
        <strong>{holds ? verifyTexts.holds : verifyTexts.holdsNot}</strong>
      </p>
      <ul>
        {findings.map(({ tone, reason }) => (
          <li class={`finding-${tone}`}>{verifyReasons[reason]}</li>
        ))}
      </ul>
    </div>
  );
}
