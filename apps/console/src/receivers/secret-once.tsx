import type { ComponentChildren } from 'preact';
import { receiverTexts } from '../texts/receiver-texts.ts';
import { Copy } from '../ui/copy.tsx';
import { createLazy } from '../ui/create-lazy.tsx';

const Examples = createLazy(() => import('./examples.tsx').then((module) => module.Examples));

type SecretOnceProps = { readonly secret: string; readonly onDone: () => void; readonly children?: ComponentChildren };

/** A signing secret, which no other answer will have, and what to do with it. */
export function SecretOnce({ secret, onDone, children }: SecretOnceProps) {
  const texts = receiverTexts.secret;
  return (
    <>
      <p class="notice">{texts.once}</p>
      <div class="secret">
        <code>{secret}</code>
        <Copy text={secret} what={texts.what} label={texts.copy} />
      </div>
      {children}
      <h3>{texts.verify}</h3>
      <p class="quiet">{texts.verifyHint}</p>
      <Examples />
      <footer class="dialog-foot">
        <button type="button" class="button button-main" onClick={onDone}>
          {texts.done}
        </button>
      </footer>
    </>
  );
}
