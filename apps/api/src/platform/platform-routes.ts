import { BindingLimitReachedError, CreateTask, KeyLimitReachedError, NotFoundError } from '@herald/core';
import type { Logger } from '@herald/runtime/log';
import { API_KEY_LIMIT, type ApiKeyStore } from '@herald/store/access/api-key-store';
import { BINDING_LIMIT, type BindingStore } from '@herald/store/access/binding-store';
import { PORTAL_LINK_LIMIT } from '@herald/store/access/portal-link-store';
import { onceClosed } from '../http/problem.ts';
import { callerOf, stateOf } from '../http/request-state.ts';
import {
  CreatePortalLink,
  logUntold,
  type ManagePortalLinks,
  PortalLinkCreation,
  PortalLinkDeleted,
  PortalLinkList,
} from '../portal-links/manage-portal-links.ts';
import { operation, type KeyedRouteTable } from '../http/operation.ts';
import { answerWithNewTask, type CreateTaskDeps } from '../tasks/task-routes.ts';
import { TaskCreation } from '../tasks/task-view.ts';
import type { EraseWorkspace } from './erase-workspace.ts';
import {
  BindExecutionWorkspace,
  BindingEnded,
  BindingList,
  BindingView,
  CreateWorkspaceKey,
  toBindingView,
  toWorkspaceKeyView,
  WorkspaceErasure,
  WorkspaceKeyCreation,
  WorkspaceKeyList,
  WorkspaceKeyRevoked,
} from './platform-view.ts';

export type PlatformRoutesDeps = CreateTaskDeps & {
  readonly apiKeys: ApiKeyStore;
  readonly portalLinks: ManagePortalLinks;
  readonly bindings: BindingStore;
  readonly eraseWorkspace: EraseWorkspace;
  readonly logger: Logger;
  /** Epoch ms. */
  readonly now: () => number;
};

/** What the platform does for its workspaces, which need no record of their own: a workspace is there once it has anything. */
export const PLATFORM_ROUTES: KeyedRouteTable<PlatformRoutesDeps> = {
  tag: 'Platform',
  path: '/api/platform',
  access: 'platform',
  ids: { workspaceId: 'workspace', keyId: 'key', linkId: 'portal_link', executionWorkspaceId: 'workspace' },
  operations: [
    operation('createWorkspaceKey', 'POST /workspaces/{workspaceId}/keys', {
      audit: 'answer',
      summary: 'Make an API key for a workspace',
      description: `Nothing else is needed to sign a customer up: a workspace is there once it has anything. A workspace that has ${API_KEY_LIMIT} living keys, however they were made, gets no more this way.`,
      body: CreateWorkspaceKey,
      answer: {
        status: 201,
        description: 'The key, shown this once.',
        schema: WorkspaceKeyCreation,
        headers: ['cache-control'],
      },
      problems: ['key_limit_reached'],
      async handle({ apiKeys, now }, req, _res, { scopes, name, expiresInSeconds }) {
        const { workspaceId } = req.params;
        const made = await apiKeys.createLimited({
          workspaceId,
          scopes,
          ...(name !== undefined && { name }),
          ...(expiresInSeconds !== undefined && { expiresAt: now() + expiresInSeconds * 1_000 }),
        });
        if (made === 'full') throw new KeyLimitReachedError(API_KEY_LIMIT);
        return { ...toWorkspaceKeyView(made.record), key: made.key };
      },
    }),
    operation('listWorkspaceKeys', 'GET /workspaces/{workspaceId}/keys', {
      summary: 'List the API keys of a workspace',
      description: 'Those that work now, newest first, however they were made. Never the keys themselves.',
      answer: { status: 200, description: 'The keys.', schema: WorkspaceKeyList },
      async handle({ apiKeys }, req) {
        return { keys: (await apiKeys.listOf(req.params.workspaceId)).map(toWorkspaceKeyView) };
      },
    }),
    operation('revokeWorkspaceKey', 'DELETE /workspaces/{workspaceId}/keys/{keyId}', {
      audit: 'path',
      summary: 'Revoke an API key of a workspace',
      description: 'At once: every request with it is refused from then on. The portal links that it made end with it.',
      answer: { status: 200, description: 'It is revoked.', schema: WorkspaceKeyRevoked },
      async handle({ apiKeys, logger }, req) {
        const { workspaceId, keyId } = req.params;
        const record = await apiKeys.findById(keyId);
        const told = record?.workspaceId === workspaceId ? await apiKeys.revoke(keyId) : undefined;
        if (!told) throw new NotFoundError('key', keyId);
        logUntold(logger, told, { workspaceId, keyId });
        return { deleted: true };
      },
    }),
    operation('createWorkspacePortalLink', 'POST /workspaces/{workspaceId}/portal-links', {
      audit: 'answer',
      summary: 'Make a link to the console of a workspace',
      description: `It ends with its time, with the platform key that made it, or by a DELETE. A workspace has at most ${PORTAL_LINK_LIMIT} living links; those that operators made count apart.`,
      body: CreatePortalLink,
      answer: { status: 201, description: 'The link.', schema: PortalLinkCreation, headers: ['cache-control'] },
      problems: ['portal_link_limit_reached'],
      async handle({ portalLinks }, req, _res, request) {
        return await portalLinks.create({ ...callerOf(req), workspaceId: req.params.workspaceId }, request);
      },
    }),
    operation('listWorkspacePortalLinks', 'GET /workspaces/{workspaceId}/portal-links', {
      summary: 'List the links to the console of a workspace',
      description: 'Those that work now, newest first, whoever made them. Never a token.',
      answer: { status: 200, description: 'The links.', schema: PortalLinkList },
      async handle({ portalLinks }, req) {
        return await portalLinks.list(req.params.workspaceId);
      },
    }),
    operation('revokeWorkspacePortalLink', 'DELETE /workspaces/{workspaceId}/portal-links/{linkId}', {
      audit: 'path',
      summary: 'End a link to the console of a workspace',
      description: 'At once: every request with its token is refused from then on.',
      answer: { status: 200, description: 'It has ended.', schema: PortalLinkDeleted },
      async handle({ portalLinks }, req) {
        await portalLinks.revoke(req.params.workspaceId, req.params.linkId);
        return { deleted: true };
      },
    }),
    operation('createWorkspaceTask', 'POST /workspaces/{workspaceId}/tasks', {
      audit: 'none',
      summary: 'Create a Task of a workspace',
      description:
        'As `POST /tasks` with a key of the workspace, but it may run in any workspace: what the platform names is believed.',
      body: CreateTask,
      answer: { status: 201, description: 'The Task.', schema: TaskCreation, headers: ['location', 'cache-control'] },
      problems: ['workspace_full'],
      async handle(deps, req, res, request) {
        return await answerWithNewTask(deps, req.params.workspaceId, request, req, res);
      },
    }),
    operation('bindExecutionWorkspace', 'POST /workspaces/{workspaceId}/execution-workspaces', {
      audit: 'path',
      summary: 'Let Tasks of a workspace run in another',
      description: `Keys of the workspace may then name it as \`executionWorkspaceId\`. Events go to the receivers of the workspace in any case. A second request changes nothing. A workspace is bound to at most ${BINDING_LIMIT}.`,
      body: BindExecutionWorkspace,
      answer: { status: 200, description: 'The two are bound.', schema: BindingView },
      problems: ['binding_limit_reached'],
      async handle({ bindings }, req, _res, { executionWorkspaceId }) {
        stateOf(req).auditFacts = { target: executionWorkspaceId };
        const bound = await bindings.bind(req.params.workspaceId, executionWorkspaceId);
        if (bound === 'full') throw new BindingLimitReachedError(BINDING_LIMIT);
        return toBindingView(bound);
      },
    }),
    operation('listExecutionWorkspaces', 'GET /workspaces/{workspaceId}/execution-workspaces', {
      summary: 'List where Tasks of a workspace may run',
      description: 'The workspaces that are bound to it, the oldest binding first. Its Tasks may run in itself, too.',
      answer: { status: 200, description: 'The bindings.', schema: BindingList },
      async handle({ bindings }, req) {
        return { executionWorkspaces: (await bindings.list(req.params.workspaceId)).map(toBindingView) };
      },
    }),
    operation(
      'unbindExecutionWorkspace',
      'DELETE /workspaces/{workspaceId}/execution-workspaces/{executionWorkspaceId}',
      {
        audit: 'path',
        summary: 'Let no more Tasks of a workspace run in another',
        description: 'Tasks that are there already stay as they are.',
        answer: { status: 200, description: 'The two are not bound any more.', schema: BindingEnded },
        async handle({ bindings }, req) {
          const { workspaceId, executionWorkspaceId } = req.params;
          if (!(await bindings.unbind(workspaceId, executionWorkspaceId)))
            throw new NotFoundError('workspace', executionWorkspaceId);
          return { deleted: true };
        },
      },
    ),
    operation('eraseWorkspace', 'DELETE /workspaces/{workspaceId}', {
      audit: 'path',
      summary: 'End a workspace, and erase what it held',
      description:
        'Its keys and portal links end at once; its receivers and bindings are removed; its open Tasks are canceled; and of each Task all is erased that `DELETE /tasks/{id}/payloads` erases, also in the history. A request works for some ten seconds: repeat it until `erased` is true. Several may run at once, and whatever else ends meanwhile is passed over. What stays are facts without content, and the audit trail, until their time is over.',
      answer: { status: 200, description: 'What was erased.', schema: WorkspaceErasure },
      problems: ['history_unavailable'],
      async handle({ eraseWorkspace }, req, res) {
        const hangUp = new AbortController();
        onceClosed(res, () => {
          hangUp.abort();
        });
        return await eraseWorkspace(req.params.workspaceId, hangUp.signal);
      },
    }),
  ],
};
