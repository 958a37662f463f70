import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { receiverTexts } from '../texts/receiver-texts.ts';
import { Copy } from '../ui/copy.tsx';
import { createLazy } from '../ui/create-lazy.tsx';
import { Dialog } from '../ui/dialog.tsx';

const Examples = createLazy(() => import('./examples.tsx').then((module) => module.Examples));

type SecretOnceProps = {
  readonly secret: string;
  readonly onClose: () => void;
  /** When somebody says that he has the secret. */
  readonly onKept?: () => void;
  readonly children?: ComponentChildren;
};

/** A signing secret, which no other answer will have, and what to do with it. It asks before it goes uncopied. */
export function SecretOnce({ secret, onClose, onKept = onClose, children }: SecretOnceProps) {
  const texts = receiverTexts.secret;
  const [isCopied, setCopied] = useState(false);
  const [isAsking, setAsking] = useState(false);
  const onCopied = () => {
    setCopied(true);
    setAsking(false);
  };
  const mayClose = () => {
    if (!isCopied) setAsking(true);
    return isCopied;
  };
  return (
    <Dialog title={texts.title} onClose={onClose} mayClose={mayClose}>
      {isAsking && (
        <div class="summary summary-bad" role="alert">
          <p>
            {texts.notCopied}{' '}
            <button type="button" class="button button-bad" onClick={onClose}>
              {texts.closeAnyway}
            </button>
          </p>
        </div>
      )}
      <p class="notice">{texts.once}</p>
      <div class="secret">
        <code onCopy={onCopied}>{secret}</code>
        <Copy text={secret} what={texts.what} label={texts.copy} onCopied={onCopied} />
      </div>
      {children}
      <h3>{texts.verify}</h3>
      <p class="quiet">{texts.verifyHint}</p>
      <Examples />
      <footer class="dialog-foot">
        <button type="button" class="button button-main" onClick={onKept}>
          {texts.done}
        </button>
      </footer>
    </Dialog>
  );
}
