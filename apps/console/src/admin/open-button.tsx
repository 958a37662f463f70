import type { ComponentChildren } from 'preact';
import { adminTexts } from '../texts/admin-texts.ts';
import { Problem } from '../ui/problem.tsx';
import { useOpenWorkspace } from './queries.ts';

type OpenButtonProps = {
  readonly workspaceId: string;
  /** Where in its console. */
  readonly page?: string;
  readonly children: ComponentChildren;
};

/** Leads to a page of a workspace's console. */
export function OpenButton({ workspaceId, page = '/console/receivers', children }: OpenButtonProps) {
  const open = useOpenWorkspace();
  return (
    <>
      <button
        type="button"
        class="link-button mono"
        title={`${adminTexts.openAs(workspaceId)}. ${adminTexts.openHint}`}
        disabled={open.isPending}
        onClick={() => {
          open.mutate({ workspaceId, page });
        }}
      >
        {children}
      </button>
      {open.error && <Problem error={open.error} />}
    </>
  );
}
