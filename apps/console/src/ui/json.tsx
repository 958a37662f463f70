import { useState } from 'preact/hooks';
import { cutJson, prettyJson } from '../text/pretty-json.ts';
import { texts } from '../texts/texts.ts';
import { Copy } from './copy.tsx';
import { ForeignText } from './words.tsx';

/** A longer body is shown without colours. */
const COLOURED_CHARACTERS = 20_000;

/** A body, pretty or as it is sent. */
export function Json({ text, what }: { readonly text: string; readonly what: string }) {
  const pretty = prettyJson(text);
  const [isRaw, setRaw] = useState(false);
  const shown = isRaw || pretty === undefined ? text : pretty;
  return (
    <div class="code-box">
      <div class="code-tools">
        {pretty !== undefined && (
          <button
            type="button"
            class="button"
            aria-pressed={isRaw}
            onClick={() => {
              setRaw(!isRaw);
            }}
          >
            {texts.raw}
          </button>
        )}
        <Copy text={text} what={what} />
      </div>
      <pre tabIndex={0} aria-label={what}>
        {shown === pretty && shown.length < COLOURED_CHARACTERS ? (
          cutJson(shown).map((piece) => (
            <span class={`json-${piece.kind}`}>
              {piece.kind === 'plain' ? piece.text : <ForeignText text={piece.text} />}
            </span>
          ))
        ) : (
          <ForeignText text={shown} lines />
        )}
      </pre>
    </div>
  );
}
