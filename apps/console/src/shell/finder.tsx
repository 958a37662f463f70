import { useId, useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { api } from '../api/client.ts';
import { useReceivers } from '../deliveries/queries.ts';
import { texts } from '../texts/texts.ts';
import { ForeignText } from '../ui/words.tsx';
import { findPlaces, isTransition, pageOfTransition } from './find-by-id.ts';

async function askForPage(transitionId: string): Promise<string | undefined> {
  const asked = api.GET('/api/public/deliveries', { params: { query: { transitionId, limit: 1 } } });
  return pageOfTransition((await asked).deliveries);
}

/** Leads from an id, a host, a description, an event, an error or a status to its page. Arrows choose among several. */
export function Finder() {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const [isOpen, setOpen] = useState(false);
  const [problem, setProblem] = useState<string>();
  const problemId = useId();
  const listId = useId();
  const [, navigate] = useLocation();
  const found = findPlaces(text, useReceivers().data?.webhooks ?? []);
  const isShown = isOpen && found.length > 0;
  const go = (page: string) => {
    setText('');
    setOpen(false);
    navigate(page);
    // So that the next key is for the page.
    document.getElementById('content')?.focus();
  };
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const asks = isTransition(text);
    try {
      const page = asks ? await askForPage(text.trim()) : found[chosen]?.page;
      if (page === undefined) setProblem(asks ? texts.noTransition : texts.notFoundAnything);
      else go(page);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Escape' && isShown) setOpen(false);
    else if (step !== undefined && found.length > 0) {
      setOpen(true);
      setChosen((chosen + step + found.length) % found.length);
    } else return;
    event.preventDefault();
  };
  return (
    <form
      class="finder"
      role="search"
      onSubmit={(event) => void submit(event)}
      onFocusOut={({ currentTarget, relatedTarget }) => {
        if (relatedTarget instanceof Node && currentTarget.contains(relatedTarget)) return;
        setOpen(false);
        setProblem(undefined);
      }}
    >
      <input
        type="text"
        role="combobox"
        aria-expanded={isShown}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={isShown ? `${listId}-${chosen}` : undefined}
        data-finder
        class="mono"
        aria-label={texts.findLabel}
        aria-describedby={problem === undefined ? undefined : problemId}
        placeholder={texts.find}
        spellcheck={false}
        autocomplete="off"
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          setChosen(0);
          setOpen(true);
          setProblem(undefined);
        }}
        onKeyDown={onKey}
      />
      <kbd aria-hidden="true">/</kbd>
      <ul id={listId} role="listbox" aria-label={texts.found} hidden={!isShown}>
        {found.map(({ page, title, kind }, index) => (
          <li
            id={`${listId}-${index}`}
            role="option"
            aria-selected={index === chosen}
            // A click would first take the focus away, which closes the list.
            onMouseDown={(event) => {
              event.preventDefault();
              go(page);
            }}
          >
            <ForeignText text={title} /> <span class="quiet">{kind}</span>
          </li>
        ))}
      </ul>
      {problem !== undefined && (
        <p id={problemId} class="hint hint-bad" role="alert">
          {problem}
        </p>
      )}
    </form>
  );
}
