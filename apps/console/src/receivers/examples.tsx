import { useState } from 'preact/hooks';
// The examples are those of the kits, which their tests run.
import pythonPage from '../../../../packages/receiver-python/README.md?raw';
import page from '../../../../packages/receiver/README.md?raw';
import { receiverTexts } from '../texts/receiver-texts.ts';
import { Copy } from '../ui/copy.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { EXAMPLE_FILES, readExamples } from './read-examples.ts';

const examples = readExamples(`${page}\n${pythonPage}`);

/** A receiver in five languages, to copy. */
export function Examples() {
  const texts = receiverTexts.secret;
  const [file, setFile] = useState<(typeof EXAMPLE_FILES)[number][0]>('express.mjs');
  const language = EXAMPLE_FILES.find(([name]) => name === file)?.[1] ?? '';
  const code = examples.get(file) ?? '';
  const isOfKit = file === 'express.mjs' || file === 'fastapi_app.py';
  return (
    <div class="code-box examples">
      <div class="code-tools">
        <Tabs label={texts.language} value={file} options={EXAMPLE_FILES} onChange={setFile} />
        <Copy text={code} what={texts.example(language)} />
      </div>
      {isOfKit && <p class="quiet">{texts.install(language)}</p>}
      <p>
        <a href="/docs/receiving#verify" target="_blank" rel="noopener">
          {texts.howTo}
        </a>
      </p>
      <pre tabIndex={0} aria-label={texts.example(language)}>
        {code}
      </pre>
    </div>
  );
}
