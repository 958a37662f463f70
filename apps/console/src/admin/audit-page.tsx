import { useState } from 'preact/hooks';
import { useSearchParams } from 'wouter-preact';
import type { Schemas } from '../api/client.ts';
import { MoreRows } from '../deliveries/parts.tsx';
import { adminTexts } from '../texts/admin-texts.ts';
import { Loaded } from '../ui/loaded.tsx';
import { Time } from '../ui/time.tsx';
import { ForeignText } from '../ui/words.tsx';
import {
  AUDIT_RANGES,
  type AuditFilter,
  isDoer,
  isWorkspace,
  readAuditFilter,
  writeAuditFilter,
} from './audit-filter.ts';
import { OpenButton } from './open-button.tsx';
import { useAudit } from './queries.ts';

type Entry = Schemas['AuditEntry'];

/** Who changed what, in every workspace. What is looked for lives in the address. */
export function AuditPage() {
  const [query, setQuery] = useSearchParams();
  const filter = readAuditFilter(query);
  const pages = useAudit(filter);
  const { audit, noEntry, noEntryFound, historyAway } = adminTexts;
  const narrow = (change: AuditFilter) => {
    setQuery(writeAuditFilter({ ...filter, ...change }), { replace: true });
  };
  return (
    <>
      <header class="page-head">
        <h1>{audit}</h1>
      </header>
      <Filters key={`${filter.workspace ?? ''} ${filter.by ?? ''}`} filter={filter} onChange={narrow} />
      <Loaded of={pages}>
        {(data) => {
          const rows = data.pages.flatMap(({ entries }) => entries);
          return (
            <>
              {data.pages.some(({ historyUnavailable }) => historyUnavailable) && (
                <p class="notice" role="status">
                  {historyAway}
                </p>
              )}
              {rows.length === 0 && !pages.hasNextPage ? (
                <div class="empty">
                  <p>{Object.keys(filter).length === 0 ? noEntry : noEntryFound}</p>
                </div>
              ) : (
                <EntryTable rows={rows} onNarrow={narrow} />
              )}
              {pages.hasNextPage && (
                <MoreRows isLoading={pages.isFetchingNextPage} load={() => void pages.fetchNextPage()} />
              )}
            </>
          );
        }}
      </Loaded>
    </>
  );
}

type Narrow = (change: AuditFilter) => void;

function Filters({ filter, onChange }: { readonly filter: AuditFilter; readonly onChange: Narrow }) {
  const { label, workspace, by, wrong, time, anyTime, ranges, clear } = adminTexts.auditFilters;
  const [typed, setTyped] = useState({ workspace: filter.workspace ?? '', by: filter.by ?? '' });
  const wanted = { workspace: typed.workspace.trim() || undefined, by: typed.by.trim() || undefined };
  const isWrong = {
    workspace: wanted.workspace !== undefined && !isWorkspace(wanted.workspace),
    by: wanted.by !== undefined && !isDoer(wanted.by),
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (!isWrong.workspace && !isWrong.by) onChange(wanted);
  };
  const input = (name: keyof typeof typed, title: string) => (
    <input
      type="search"
      class={filter[name] === undefined ? 'mono' : 'mono is-set'}
      aria-label={title}
      placeholder={title}
      aria-invalid={isWrong[name]}
      spellcheck={false}
      autocomplete="off"
      maxLength={128}
      value={typed[name]}
      onInput={({ currentTarget: { value } }) => {
        setTyped({ ...typed, [name]: value });
      }}
    />
  );
  return (
    <form class="filters" role="search" aria-label={label} onSubmit={submit}>
      {input('workspace', workspace)}
      {input('by', by)}
      <select
        aria-label={time}
        value={filter.range ?? ''}
        class={filter.range === undefined ? undefined : 'is-set'}
        onChange={({ currentTarget: { value } }) => {
          onChange({ range: AUDIT_RANGES.find((range) => range === value) });
        }}
      >
        <option value="">{anyTime}</option>
        {AUDIT_RANGES.map((range) => (
          <option value={range}>{ranges[range]}</option>
        ))}
      </select>
      <button type="submit" class="button">
        {adminTexts.find}
      </button>
      {Object.keys(filter).length > 0 && (
        <button
          type="button"
          class="link-button"
          onClick={() => {
            onChange({ workspace: undefined, by: undefined, range: undefined });
          }}
        >
          {clear}
        </button>
      )}
      {(['workspace', 'by'] as const)
        .filter((name) => isWrong[name])
        .map((name) => (
          <p class="hint hint-bad" role="alert">
            {wrong[name]}
          </p>
        ))}
    </form>
  );
}

function EntryTable({ rows, onNarrow }: { readonly rows: readonly Entry[]; readonly onNarrow: Narrow }) {
  const { audit, auditHeadings: headings } = adminTexts;
  return (
    <table class="rows audit" aria-label={audit}>
      <thead>
        <tr>
          <th scope="col">{headings.when}</th>
          <th scope="col">{headings.who}</th>
          <th scope="col">{headings.what}</th>
          <th scope="col">{headings.target}</th>
          <th scope="col">{headings.workspace}</th>
          <th scope="col">{headings.from}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <EntryRow key={row.id} row={row} onNarrow={onNarrow} />
        ))}
      </tbody>
    </table>
  );
}

function EntryRow({ row, onNarrow }: { readonly row: Entry; readonly onNarrow: Narrow }) {
  const { at, by, user, action, target, workspaceId, fields, reason, address, requestId } = row;
  return (
    <tr>
      <td class="col-time">
        <Time at={at} />
      </td>
      <td class="col-who">
        <button
          type="button"
          class="link-button mono"
          title={adminTexts.onlyBy(by)}
          onClick={() => {
            onNarrow({ by });
          }}
        >
          {by}
        </button>
        {user !== null && (
          <>
            {' '}
            <ForeignText text={user} />
          </>
        )}
      </td>
      <td class="col-act">
        <ForeignText text={action} />
        {fields && fields.length > 0 && (
          <span class="quiet">
            {' '}
            <ForeignText text={fields.join(', ')} />
          </span>
        )}
        {reason !== null && (
          <p class="quiet">
            <ForeignText text={reason} />
          </p>
        )}
      </td>
      <td class="mono col-target">{target !== null && <ForeignText text={target} />}</td>
      <td class="col-workspace">
        {workspaceId !== null && <OpenButton workspaceId={workspaceId}>{workspaceId}</OpenButton>}
      </td>
      <td class="mono quiet">
        {address !== null && <ForeignText text={address} />}
        {requestId !== null && (
          <>
            {' '}
            <ForeignText text={requestId} />
          </>
        )}
      </td>
    </tr>
  );
}
