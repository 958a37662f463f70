import { useState } from 'preact/hooks';
// The examples are those of the kit, which its tests run.
import page from '../../../../packages/receiver/README.md?raw';
import { receiverTexts } from '../texts/receiver-texts.ts';
import { Copy } from '../ui/copy.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { readExamples } from './read-examples.ts';

const examples = readExamples(page);
const LANGUAGES = [
  ['express.ts', 'Node'],
  ['receiver.py', 'Python'],
  ['receiver.go', 'Go'],
  ['config.ru', 'Ruby'],
  ['receiver.php', 'PHP'],
] as const;

/** A receiver in five languages, to copy. */
export function Examples() {
  const texts = receiverTexts.secret;
  const [file, setFile] = useState<(typeof LANGUAGES)[number][0]>('express.ts');
  const language = LANGUAGES.find(([name]) => name === file)?.[1] ?? '';
  const code = examples.get(file) ?? '';
  return (
    <div class="code-box examples">
      <div class="code-tools">
        <Tabs label={texts.language} value={file} options={LANGUAGES} onChange={setFile} />
        <Copy text={code} what={texts.example(language)} />
      </div>
      <pre tabIndex={0} aria-label={texts.example(language)}>
        {code}
      </pre>
    </div>
  );
}
