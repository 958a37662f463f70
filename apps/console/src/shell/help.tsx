import { texts } from '../texts/texts.ts';
import { Dialog } from '../ui/dialog.tsx';

/** The keys. */
export function Help({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title={texts.helpTitle} onClose={onClose}>
      <dl class="keys">
        {texts.keys.map(([key, meaning]) => (
          <div>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
