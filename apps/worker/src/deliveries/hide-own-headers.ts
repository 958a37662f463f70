import type { AttemptOutcome, OwnHeaders } from '@herald/core';

/** Shorter texts are no credentials, and may be anywhere in an answer. */
const LEAST_CHARACTERS = 8;

/**
 * An outcome in which the answer doesn't repeat the endpoint's own headers: some servers send back what they got, and
 * answers are kept and shown. A value is hidden, and so is a word of it, such as the token after `Bearer`.
 */
export function hideOwnHeaders(outcome: AttemptOutcome, ownHeaders: OwnHeaders): AttemptOutcome {
  const hidden = Object.entries(ownHeaders).flatMap(([name, value]) =>
    [value, ...value.split(/[ \t]+/)]
      .flatMap((text) => [text, JSON.stringify(text).slice(1, -1)])
      .filter((text) => text.length >= LEAST_CHARACTERS)
      .map((text) => ({ text, label: `[${name}]` })),
  );
  if (outcome.kind !== 'responded' || hidden.length === 0) return outcome;
  hidden.sort((a, b) => b.text.length - a.text.length);
  const hide = (answer: string) => hidden.reduce((shown, { text, label }) => hideText(shown, text, label), answer);
  const { answer, headers } = outcome;
  return {
    ...outcome,
    answer: hide(answer),
    ...(headers && { headers: Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, hide(text)])) }),
  };
}

/** Also hides the part that is left of it where the answer was cut. */
function hideText(answer: string, text: string, label: string): string {
  const shown = answer.replaceAll(text, () => label);
  for (let length = Math.min(text.length - 1, shown.length); length >= LEAST_CHARACTERS; length--) {
    if (shown.endsWith(text.slice(0, length))) return shown.slice(0, -length) + label;
  }
  return shown;
}
