import { useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { texts } from '../texts/texts.ts';
import { announce } from '../ui/announce.tsx';
import { findPage } from './find-by-id.ts';

/** Leads from an id to its page. */
export function Finder() {
  const [text, setText] = useState('');
  const [, navigate] = useLocation();
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const page = findPage(text);
    if (page === undefined) {
      announce(texts.notAnId);
      return;
    }
    setText('');
    navigate(page);
    // So that the next key is for the page.
    document.getElementById('content')?.focus();
  };
  return (
    <form class="finder" role="search" onSubmit={submit}>
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
