import { brand } from '../texts/brand.ts';
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
      <p>
        <a href="/docs/receiving" target="_blank" rel="noopener">
          {texts.receivingDocs}
        </a>
        {brand?.support !== undefined && (
          <>
            {' · '}
            <a href={brand.support} target="_blank" rel="noopener">
              {texts.support(brand.name)}
            </a>
          </>
        )}
      </p>
    </Dialog>
  );
}
