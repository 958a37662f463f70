import { useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { adminTexts } from '../texts/admin-texts.ts';

/** Looks for anything by id, host or workspace. The results have a page, whose address holds what was looked for. */
export function Search() {
  const [text, setText] = useState('');
  const [, navigate] = useLocation();
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (text.trim() === '') return;
    navigate(`/admin/search?q=${encodeURIComponent(text.trim())}`);
    document.getElementById('content')?.focus();
  };
  return (
    <form class="finder" role="search" onSubmit={submit}>
      <input
        type="search"
        data-finder
        class="mono"
        aria-label={adminTexts.search.label}
        placeholder={adminTexts.search.label}
        title={adminTexts.search.hint}
        spellcheck={false}
        autocomplete="off"
        maxLength={256}
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
        }}
      />
      <kbd aria-hidden="true">/</kbd>
    </form>
  );
}
