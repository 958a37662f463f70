import { useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { texts } from '../texts/texts.ts';
import { announce } from '../ui/announce.tsx';
import { api } from '../api/client.ts';
import { findPage, isTransition, pageOfTransition } from './find-by-id.ts';

async function askForPage(transitionId: string): Promise<string | undefined> {
  const asked = api.GET('/api/public/deliveries', { params: { query: { transitionId, limit: 1 } } });
  return pageOfTransition((await asked).deliveries);
}

/** Leads from an id to its page. */
export function Finder() {
  const [text, setText] = useState('');
  const [, navigate] = useLocation();
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const asks = isTransition(text);
    const page = asks ? await askForPage(text.trim()).catch(() => undefined) : findPage(text);
    if (page === undefined) {
      announce(asks ? texts.noTransition : texts.notAnId);
      return;
    }
    setText('');
    navigate(page);
    // So that the next key is for the page.
    document.getElementById('content')?.focus();
  };
  return (
    <form class="finder" role="search" onSubmit={(event) => void submit(event)}>
      <input
        type="search"
        data-finder
        class="mono"
        aria-label={texts.findLabel}
        placeholder={texts.find}
        spellcheck={false}
        autocomplete="off"
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
        }}
      />
      <kbd aria-hidden="true">/</kbd>
    </form>
  );
}
